// Package witness cosigns the checkpoints of logs it knows (c2sp.org/tlog-witness),
// each only if the log has done nothing but grow since the last one. Whoever asks for
// its cosignature on a checkpoint need not watch the log: two histories of one log
// never both have it.
package witness

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"hodl/internal/file"
	"hodl/internal/ledger"
)

// A Witness remembers, in a folder that no other uses, the last checkpoint it
// cosigned of each log. It is safe for concurrent use.
type Witness struct {
	name string
	key  ed25519.PrivateKey
	dir  string
	logs map[string]ledger.Verifier // by origin
	now  func() time.Time
	held *file.Lock

	mu sync.Mutex
}

// Open returns the witness that is kept in a folder, and makes its key there at
// first. Each of vkeys is the verifier key of a log it cosigns for. A folder is one
// witness's until [Witness.Close]: of two, each would cosign what the other must not.
func Open(dir, name string, vkeys []string, now func() time.Time) (*Witness, error) {
	if name == "" || strings.ContainsAny(name, " +\n") {
		return nil, fmt.Errorf("the name %q has a blank or a +, or is empty: use one such as witness.example.com", name)
	}
	w := &Witness{name: name, dir: dir, logs: map[string]ledger.Verifier{}, now: now}
	for _, k := range vkeys {
		v, err := ledger.ParseVerifier(k)
		if err != nil {
			return nil, err
		}
		w.logs[v.Name()] = v
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	held, err := file.TryLock(filepath.Join(dir, "witness.lock"))
	if errors.Is(err, file.ErrLocked) {
		return nil, fmt.Errorf("%s: %w", dir, ErrTaken)
	}
	if err != nil {
		return nil, err
	}
	w.held = held
	if w.key, err = keyIn(dir); err != nil {
		return nil, errors.Join(err, held.Release())
	}
	return w, nil
}

// Close leaves the folder to the next witness.
func (w *Witness) Close() error { return w.held.Release() }

// keyIn reads the witness's key, or makes it.
func keyIn(dir string) (ed25519.PrivateKey, error) {
	name := filepath.Join(dir, "witness.key")
	text, err := os.ReadFile(name) //nolint:gosec // the operator names the folder
	if errors.Is(err, os.ErrNotExist) {
		seed := make([]byte, ed25519.SeedSize)
		_, _ = rand.Read(seed) // never fails
		return ed25519.NewKeyFromSeed(seed), save(name, hex.EncodeToString(seed)+"\n")
	}
	if err != nil {
		return nil, err
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s holds no key: it is the 32 bytes of an Ed25519 seed, in hex", name)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// VerifierKey is what verifies the witness's cosignatures.
func (w *Witness) VerifierKey() string {
	public, _ := w.key.Public().(ed25519.PublicKey)
	return ledger.WitnessKey(w.name, public)
}

// ErrTaken tells that a folder is another witness's.
var ErrTaken = errors.New("another witness works in this folder: stop it, or choose another one with --data")

// What a witness refuses, as c2sp.org/tlog-witness tells them apart.
var (
	ErrMalformed = errors.New("malformed")
	ErrUnknown   = errors.New("this witness does not know the log")
	ErrUnsigned  = errors.New("the log did not sign the checkpoint")
	ErrFork      = errors.New("the log did not grow from what was cosigned last")
)

// Behind tells that the caller's old size is not that of the last cosigned
// checkpoint, which is Size.
type Behind struct{ Size int64 }

func (e *Behind) Error() string { return fmt.Sprintf("the last cosigned size is %d", e.Size) }

// Add cosigns a signed checkpoint whose log had old entries when it was cosigned last,
// which proof shows to be the beginning of it. It returns the line of the signature.
// The checkpoint is on disk before.
func (w *Witness) Add(old int64, proof []ledger.Hash, signed string) (string, error) {
	peek, err := ledger.PeekCheckpoint(signed)
	if err != nil || old > peek.Size {
		return "", fmt.Errorf("%w: the checkpoint is none, or smaller than old", ErrMalformed)
	}
	verifier, known := w.logs[peek.Origin]
	if !known {
		return "", ErrUnknown
	}
	c, err := ledger.OpenCheckpoint(signed, verifier)
	if err != nil {
		return "", ErrUnsigned
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last, err := w.last(c.Origin)
	if err != nil {
		return "", err
	}
	if old != last.Size || old == c.Size && old > 0 && last.Root != c.Root {
		return "", &Behind{last.Size}
	}
	if err := grown(last, c, proof); err != nil {
		return "", err
	}
	if err := save(w.file(c.Origin), signed); err != nil {
		return "", err
	}
	return c.Cosign(w.name, w.key, w.now()), nil
}

// grown reports whether c began with last, as proof shows.
func grown(last, c ledger.Checkpoint, proof []ledger.Hash) error {
	if (last.Size == 0 || last.Size == c.Size) && len(proof) > 0 {
		return fmt.Errorf("%w: nothing is there to prove", ErrFork)
	}
	if err := ledger.CheckConsistency(last, c, proof); err != nil {
		return fmt.Errorf("%w: %w", ErrFork, err)
	}
	return nil
}

// last is the checkpoint that was cosigned last: the empty log at first.
func (w *Witness) last(origin string) (ledger.Checkpoint, error) {
	text, err := os.ReadFile(w.file(origin))
	if errors.Is(err, os.ErrNotExist) {
		return ledger.Checkpoint{Origin: origin}, nil
	}
	if err != nil {
		return ledger.Checkpoint{}, err
	}
	return ledger.PeekCheckpoint(string(text))
}

// file is where the last checkpoint of a log is kept: an origin may hold anything.
func (w *Witness) file(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return filepath.Join(w.dir, hex.EncodeToString(sum[:])+".checkpoint")
}

func save(name, text string) error {
	return file.Replace(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// parse reads the body of add-checkpoint: "old" and a size, the proof, a blank line,
// the checkpoint.
func parse(body string) (old int64, proof []ledger.Hash, signed string, err error) {
	head, signed, found := strings.Cut(body, "\n\n")
	lines := strings.Split(head, "\n")
	size, isOld := strings.CutPrefix(lines[0], "old ")
	old, err = strconv.ParseInt(size, 10, 64)
	if !found || !isOld || err != nil || old < 0 || strconv.FormatInt(old, 10) != size {
		return 0, nil, "", fmt.Errorf("%w: the first line is old and a size, and a blank line stands before the checkpoint", ErrMalformed)
	}
	if proof, err = ledger.ParseHashes(lines[1:]); err != nil {
		return 0, nil, "", fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return old, proof, signed, nil
}
