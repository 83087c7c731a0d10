package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"hodl/internal/file"
	"hodl/internal/ledger"
)

// A Watch remembers the last checkpoint it saw of a log, in a file: so it notices a
// log that was rolled back, or that shows two histories.
type Watch struct {
	File      string
	Verifiers []ledger.Verifier
	Tiles     ledger.Tiles
}

// Look holds a checkpoint against the last one, and remembers it. first tells that
// there was none. What was remembered stays when the error is [ledger.ErrFork].
func (w *Watch) Look(text string) (last, c ledger.Checkpoint, first bool, err error) {
	if c, err = ledger.OpenCheckpoint(text, w.Verifiers...); err != nil {
		return last, c, false, err
	}
	seen, err := os.ReadFile(w.File)
	if errors.Is(err, os.ErrNotExist) {
		return last, c, true, w.keep(text)
	}
	if err != nil {
		return last, c, false, err
	}
	// It was verified before it was kept; its key may be gone since.
	if last, err = ledger.PeekCheckpoint(string(seen)); err != nil {
		return last, c, false, fmt.Errorf("%s holds no checkpoint: %w", w.File, err)
	}
	if last.Origin == c.Origin && last.Size < c.Size {
		proof, err := ledger.ProveConsistency(c, last.Size, w.Tiles)
		if err != nil {
			return last, c, false, fmt.Errorf("%w: %w", ledger.ErrFork, err)
		}
		err = ledger.CheckConsistency(last, c, proof)
		if err != nil {
			return last, c, false, err
		}
		return last, c, false, w.keep(text)
	}
	return last, c, false, ledger.CheckConsistency(last, c, nil)
}

// keep replaces the file as a whole.
func (w *Watch) keep(text string) error {
	return file.Replace(w.File, func(to io.Writer) error {
		_, err := io.WriteString(to, strings.TrimRight(text, "\n")+"\n")
		return err
	})
}
