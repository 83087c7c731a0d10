package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	ourHydrate  = "pocketbase: ours, hydrate 11 KB on record, 32 clients"
	theirRead   = "pocketbase: theirs, read 11 KB off record, 32 clients"
	theirStart  = "pocketbase: theirs, cold start to first answer"
	theirMemory = "pocketbase: theirs, memory when idle"
)

func ourCapture(clients int) string {
	return fmt.Sprintf("pocketbase: ours, capture a hodl, %d clients", clients)
}

func theirCreate(clients int) string {
	return fmt.Sprintf("pocketbase: theirs, create the same record, %d clients", clients)
}

// errAbsent: what a figure needs is not there, and the others go on without it.
var errAbsent = errors.New("left out")

// rivals are our program as it is released and PocketBase, each a process of its own
// with the same sessions in it.
type rivals struct {
	ours, theirs *target
	idle         command // starts PocketBase again, with nothing in it
	processes    []*process
}

// pocketbaseMeasures build PocketBase, and start both, when the first figure is wanted.
func pocketbaseMeasures(_ context.Context, dir string) ([]measure, func(), error) {
	r := &rivals{}
	var once sync.Once
	var failed error
	of := func(name, unit string, run func() func(context.Context, time.Duration) (result, error)) measure {
		return measure{name, unit, func(ctx context.Context, d time.Duration) (result, error) {
			once.Do(func() { failed = r.begin(ctx, dir) })
			if failed != nil {
				return result{}, failed
			}
			return run()(ctx, d)
		}}
	}
	type run = func(context.Context, time.Duration) (result, error)
	var all []measure
	for _, clients := range []int{32, 256} {
		all = append(all,
			of(ourCapture(clients), "/s", func() run { return r.ours.load("", clients, r.ours.capture).run }),
			of(theirCreate(clients), "/s", func() run { return r.theirs.load("", clients, r.theirs.capture).run }))
	}
	return append(all,
		of(ourHydrate, "/s", func() run { return r.ours.load("", 32, r.ours.hydrate).run }),
		of(theirRead, "/s", func() run { return r.theirs.load("", 32, r.theirs.read).run }),
		of(theirStart, "ms", func() run { return r.idle.start(started.milliseconds) }),
		of(theirMemory, "MB", func() run { return r.idle.start(started.megabytes) }),
	), r.stop, nil
}

func (r *rivals) stop() {
	for _, p := range r.processes {
		p.stop()
	}
}

func (r *rivals) begin(ctx context.Context, dir string) error {
	theirs, err := buildPocketbase(ctx, dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: PocketBase is left out, and with it goal 6 and what 10 and 12 say of it:", err)
		return errAbsent
	}
	ours, err := release(ctx, dir)
	if err != nil {
		return err
	}
	if r.ours, err = r.start(ctx, dir, ours, "serve", "--json", "--listen", "127.0.0.1:0", "--data"); err != nil {
		return err
	}
	if r.theirs, err = r.start(ctx, dir, theirs, "-furnish", "-data"); err != nil {
		return err
	}
	if err := errors.Join(r.ours.furnish(r.ours.key), r.theirs.furnishPocketbase()); err != nil {
		return err
	}
	if err := alike(r.ours, r.theirs, r.ours.hydrates[0], r.theirs.reads[0]); err != nil {
		return err
	}
	return r.prepare(ctx, dir, theirs)
}

// start starts a server on a new folder, the last of its arguments.
func (r *rivals) start(ctx context.Context, dir, program string, args ...string) (*target, error) {
	data, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		return nil, err
	}
	p, err := startProcess(ctx, program, append(args, data)...)
	if err != nil {
		return nil, err
	}
	r.processes = append(r.processes, p)
	return &target{address: p.address, key: p.key}, nil
}

// prepare has PocketBase make a folder to be started on, as ours is by then.
func (r *rivals) prepare(ctx context.Context, dir, program string) error {
	data, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		return err
	}
	r.idle = command{"/api/health", program, []string{"-data", data}}
	_, err = r.idle.run(ctx)
	return err
}

// buildPocketbase builds the module of its own that it is, which downloads what is
// missing.
func buildPocketbase(ctx context.Context, dir string) (string, error) {
	binary, err := filepath.Abs(filepath.Join(dir, "pocketbase"))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".")
	cmd.Dir = filepath.Join("internal", "bench", "pocketbase")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build it: %w: %s", err, out)
	}
	return binary, nil
}

// furnishPocketbase keeps sessions there as furnish does here, with a tab more for what
// ours says of a session.
func (t *target) furnishPocketbase() error {
	c, err := dial(t.address)
	if err != nil {
		return err
	}
	defer c.close()
	for i := range sessions {
		d := draft(fmt.Sprintf("ses_bench%d", i), sessionBytes+1<<10)
		made, err := c.send(post(t.address, "/api/collections/sessions/records", t.key, map[string]any{"title": d.Title, "body": d}))
		if err != nil {
			return err
		}
		var record struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(made, &record); err != nil {
			return err
		}
		t.reads = append(t.reads, request("GET", t.address, "/api/collections/sessions/records/"+record.ID, t.key, nil))
	}
	t.captures = post(t.address, "/api/collections/hodls/records", t.key, hodlDraft())
	return nil
}
