// Package doctor looks for what is wrong with an installation, and says how to mend
// it. It changes nothing, and shows no secret: keys are named by their ids, rows by
// their keys.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hodl/internal/seal"
	"hodl/internal/store"
)

// A Status is how a check ended.
type Status string

// A warning is something to look at; what failed must be mended.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failed  Status = "failed"
)

// A Check is one line of the report.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"` // what to do about it
}

// An Examination is an installation and where to tell of it.
type Examination struct {
	Options       store.Options // Master may be nil
	MasterKeyFile string
	Listen        string
	KeyRotation   time.Duration
	Now           func() time.Time
	Tell          func(Check)                           // called in order, as each check ends
	Progress      func(stage string, done, total int64) // nil for none; total 0 when it is not known
}

// Run makes every check that can be made. What keeps one from being made is told as
// its failure; the error is that of ctx.
func (e *Examination) Run(ctx context.Context) error {
	if e.Progress == nil {
		e.Progress = func(string, int64, int64) {}
	}
	if e.Options.Database == "" {
		e.folder()
	}
	master := e.master()
	if e.Options.Database == "" {
		e.disk()
	}
	e.address(ctx)
	s, err := store.OpenSnapshot(ctx, e.Options)
	switch {
	case errors.Is(err, store.ErrNoDatabase):
		e.warn("database", "there is none yet", "hodl serve makes it; if there should be one, look at --data and --database")
	case err != nil:
		e.fail("database", err.Error(), "see that the database runs, and that --data or --database names it")
	default:
		defer func() { _ = s.Close() }() // it was only read
		e.inside(ctx, s, master)
	}
	return ctx.Err()
}

// inside makes the checks that read the database.
func (e *Examination) inside(ctx context.Context, s *store.Snapshot, master *seal.Master) {
	at, newest, err := s.Schema(ctx)
	switch {
	case err != nil:
		e.broken("schema", err)
		return
	case at > newest:
		e.fail("schema", fmt.Sprintf("the database is at version %d and this hodl knows %d", at, newest), "run the newer hodl")
		return
	case at < newest:
		e.warn("schema", fmt.Sprintf("the database is at version %d of %d, so nothing in it was checked", at, newest), "the next start of hodl serve brings it up to date: back it up before, check it after")
		return
	}
	e.ok("schema", fmt.Sprintf("version %d, the newest this hodl knows", at))
	if s.Engine() == "postgres" {
		e.postgres(ctx, s)
	} else {
		e.sqlite(ctx, s)
	}
	e.contents(ctx, s, master)
}

// Prove makes the checks of the data itself, and returns what failed of them as one
// error. It is how a restored database is judged before it is kept.
func (e *Examination) Prove(ctx context.Context, s *store.Snapshot, master *seal.Master) error {
	var failed []error
	e.Tell = func(c Check) {
		if c.Status == Failed {
			failed = append(failed, fmt.Errorf("%s: %s", c.Name, c.Detail))
		}
	}
	if s.Engine() == "sqlite" {
		e.sqlite(ctx, s)
	}
	e.contents(ctx, s, master)
	return errors.Join(append(failed, ctx.Err())...)
}

func (e *Examination) ok(name, detail string) { e.Tell(Check{name, OK, detail, ""}) }

func (e *Examination) warn(name, detail, mend string) { e.Tell(Check{name, Warning, detail, mend}) }

func (e *Examination) fail(name, detail, mend string) { e.Tell(Check{name, Failed, detail, mend}) }

// broken tells that a check could not be made.
func (e *Examination) broken(name string, err error) {
	e.fail(name, "could not be checked: "+err.Error(), "mend what is named above first; if nothing is, restore a backup into another place and check that")
}

// faults gathers what is wrong of one kind: all are counted and a few shown.
type faults struct {
	shown []string
	n     int
}

func (f *faults) add(format string, args ...any) {
	const most = 5
	if f.n++; f.n <= most {
		f.shown = append(f.shown, fmt.Sprintf(format, args...))
	}
}

func (f *faults) String() string {
	s := strings.Join(f.shown, "; ")
	if more := f.n - len(f.shown); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// verdict tells of a check that gathered faults.
func (e *Examination) verdict(name string, f *faults, well, mend string) {
	if f.n == 0 {
		e.ok(name, well)
		return
	}
	e.fail(name, f.String(), mend)
}
