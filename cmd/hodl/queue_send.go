package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"hodl"
	"hodl/client"
	"hodl/internal/queue"
)

const (
	patienceToHold  = 15 * time.Second // then the hodl is kept, and its person works on
	patienceToFlush = 5 * time.Second  // how long a command waits for what was kept before it
)

// hold sends a hodl. It is on disk before it is on the way, so that a power cut
// loses nothing; what the server took, or refused before our eyes, is not kept.
func (e *env) hold(ctx context.Context, d hodl.HodlDraft, keep bool) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	if !keep {
		got, err := api.CaptureHodl(ctx, d)
		return e.showHeld(got, err)
	}
	kept, err := e.keep(d)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patienceToHold)
	defer cancel()
	got, err := api.CaptureHodl(ctx, d, client.IdempotencyKey(kept.Key))
	if err != nil && passing(err) {
		kept.Release()
		return e.showKept(kept.Entry, err)
	}
	if dropped := kept.Drop(); err == nil && dropped != nil {
		return dropped
	}
	return e.showHeld(got, err)
}

func (e *env) showHeld(got *client.Captured, err error) error {
	return e.show(err, func() error {
		for _, w := range got.Warnings {
			e.note("%s", w)
		}
		return e.printLine(string(got.ID))
	})
}

func (e *env) showKept(kept queue.Entry, cause error) error {
	message, _, _ := e.explain(e.failed(cause))
	e.note("kept as %s, and sent later: %s", kept.ID, message)
	if e.json {
		return e.printJSON(map[string]any{"queued": true, "queue_id": kept.ID, "reason": message})
	}
	return nil
}

// passing reports whether a failure may pass by itself: no answer, or a server that
// cannot take more just now.
func passing(err error) bool {
	switch refused, ok := errors.AsType[*hodl.Error](err); {
	case !ok:
		return true
	default:
		return refused.Code == hodl.Unavailable || refused.Code == hodl.RateLimited || refused.Code == hodl.Conflict
	}
}

func (e *env) keep(d hodl.HodlDraft) (*queue.Claim, error) {
	q, err := e.queue()
	if err != nil {
		return nil, err
	}
	key, err := e.secret(e.remote.key)
	if err != nil {
		return nil, err
	}
	return q.Keep(queue.Entry{Server: e.server(), Account: account(key), HeldAt: e.now().UTC(), Draft: d})
}

func (e *env) server() string { return strings.TrimRight(e.remote.url, "/") }

// account names the key that a hodl is for, without being it: what was held with one
// key is never sent with another, which may be another person's.
func account(key string) string {
	sum := sha256.Sum256([]byte("hodl queue\x00" + key))
	return hex.EncodeToString(sum[:8])
}

// queue is the one of this person on this machine.
func (e *env) queue() (*queue.Queue, error) {
	variables, below := []string{"XDG_STATE_HOME", "HOME"}, []string{"", ".local/state"}
	if runtime.GOOS == "windows" {
		variables, below = []string{"LocalAppData"}, []string{""}
	}
	for i, name := range variables {
		// A relative path is none (XDG Base Directory Specification).
		if dir, _ := e.lookup(name); filepath.IsAbs(dir) {
			return queue.Open(filepath.Join(dir, below[i], "hodl", "queue")), nil
		}
	}
	return nil, hint(errors.New("no folder to keep hodls in"), "set %s, or give --queue=false", variables[0])
}

// flush sends what was kept for this server and key, before a command does its own
// work. It is a courtesy: what fails is tried again next time.
func (e *env) flush(ctx context.Context) {
	q, err := e.queue()
	if err != nil {
		return
	}
	list, err := q.List()
	if err != nil || len(list) == 0 || e.remote.key == "" || e.remote.key == "-" || checkURL(e.remote.url) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patienceToFlush)
	defer cancel()
	api := client.New(e.remote.url, e.remote.key, e.options()...)
	sent := 0
	for _, entry := range list {
		if entry.Server != e.server() || entry.Account != account(e.remote.key) || entry.Refusal != nil || entry.Fault != "" {
			continue
		}
		err := e.sendKept(ctx, api, q, entry.ID)
		if err != nil && passing(err) && !errors.Is(err, queue.ErrTaken) {
			break
		}
		if err == nil {
			sent++
		} else if !errors.Is(err, queue.ErrTaken) {
			e.note("%s, which was kept, is refused: hodl queue list tells why", entry.ID)
		}
	}
	if sent > 0 {
		e.note("%d of the hodls that were kept are sent", sent)
	}
}

// sendKept sends one entry. When the server took it, it is gone; when it was refused,
// it stays, with the reason.
func (e *env) sendKept(ctx context.Context, api *client.Client, q *queue.Queue, id string) error {
	kept, err := q.Claim(id)
	if err != nil {
		if kept != nil {
			kept.Release()
		}
		return err
	}
	_, err = api.CaptureHodl(ctx, kept.Draft, client.IdempotencyKey(kept.Key))
	switch {
	case err == nil:
		return kept.Drop()
	case passing(err):
		kept.Release()
		return err
	}
	refused, _ := errors.AsType[*hodl.Error](err)
	return errors.Join(err, kept.Refuse(queue.Refusal{Code: refused.Code, Message: refused.Message, Hint: refused.Hint, At: e.now().UTC()}))
}
