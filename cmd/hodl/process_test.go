package main

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hodl"
	"hodl/client"
	"hodl/internal/pgtest"
)

// A process is a hodl serve of its own.
type process struct {
	*exec.Cmd
	URL  string
	Keys []madeKey
}

func startProcess(t *testing.T, environment []string, args ...string) *process {
	t.Helper()
	c := exec.Command("hodl", append([]string{"serve", "--listen", "127.0.0.1:0", "--json"}, args...)...)
	c.Env, c.Stderr = append(os.Environ(), environment...), t.Output()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	p := &process{Cmd: c}
	if err := json.NewDecoder(out).Decode(p); err != nil {
		_ = c.Wait()
		t.Fatalf("hodl serve told nothing: %v", err)
	}
	return p
}

// TestPostgres hands a session from one server to an agent at another, over the
// one PostgreSQL database they share.
func TestPostgres(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	admin, app := pgtest.Open(t)
	master, file := filepath.Join(dir, "master.key"), filepath.Join(dir, "database")
	if out, err := exec.Command("hodl", "key", "master", master).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(file, []byte(app+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := []string{"HODL_DATABASE_FILE=" + file, "HODL_DATABASE_ADMIN=" + admin, "HODL_MASTER_KEY_FILE=" + master}
	first := startProcess(t, environment)
	second := startProcess(t, environment)
	if len(first.Keys) != 2 || len(second.Keys) != 0 {
		t.Fatalf("the servers told %d and %d keys, want 2 and 0", len(first.Keys), len(second.Keys))
	}

	key := first.Keys[0].Key
	captured, err := client.New(first.URL, key).CaptureSession(ctx, hodl.SessionDraft{Title: "the cache bug", Notes: []hodl.NoteDraft{{Body: "ask"}}})
	if err != nil {
		t.Fatal(err)
	}
	minted, err := client.New(first.URL, key).Mint(ctx, hodl.TokenDraft{Session: captured.ID, Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext}})
	if err != nil {
		t.Fatal(err)
	}
	given, err := client.NewAgent(second.URL, minted.Token).Hydrate(ctx, captured.ID)
	if err != nil || given.Title != "the cache bug" || len(given.Notes) != 1 {
		t.Fatalf("received %+v, %v", given, err)
	}
	record, err := client.New(first.URL, key).Record(ctx, given.Hydration)
	if err != nil || record.Kind != hodl.KindHydrate || record.JTI != minted.ID || record.Fingerprint != given.Fingerprint {
		t.Errorf("record %+v, %v", record, err)
	}

	create := exec.Command("hodl", "key", "create", "--mode", "sandbox", "--json")
	create.Env = append(os.Environ(), environment...)
	out, err := create.Output()
	var made madeKey
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	if me, err := client.New(second.URL, made.Key).Me(ctx); err != nil || me.Mode != hodl.Sandbox || me.Workspace != first.Keys[0].WorkspaceID {
		t.Errorf("the new key is of %+v, %v", me, err)
	}
	for _, p := range []*process{first, second} {
		p.terminate(t)
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// TestSecondSignal has a request that never ends: the first signal waits for it, the
// second does not.
func TestSecondSignal(t *testing.T) {
	p := startProcess(t, nil, "--data", t.TempDir())
	address := strings.TrimPrefix(p.URL, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte("POST /v1/hodls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + p.Keys[0].Key + "\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the body is awaited: the request is in flight
		t.Fatal(err)
	}
	p.terminate(t)
	waitUntilClosed(t, address)
	p.terminate(t)
	err = p.Wait()
	failed, ok := errors.AsType[*exec.ExitError](err)
	if !ok || !failed.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("ended with %v, want the signal", err)
	}
}

// waitUntilClosed returns when nobody listens at address any more.
func waitUntilClosed(t *testing.T, address string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		_ = conn.Close() // it was only to see who answers
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the server still takes connections")
		}
	}
}
