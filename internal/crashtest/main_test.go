// Package crashtest kills servers and databases under load, and counts what is
// left. It has no code of its own: only tests.
//
// The server under test is this test binary, started again: what runs is
// [serve.Open] and Run, as in the command, and with -race the detector watches the
// server too.
package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"hodl"
	"hodl/internal/serve"
)

// childVariable, when set, makes this binary a server with that configuration.
const childVariable = "HODL_CRASHTEST_SERVER"

func TestMain(m *testing.M) {
	for variable, run := range map[string]func(string) error{childVariable: child, rotatorVariable: rotator} {
		if config := os.Getenv(variable); config != "" {
			if err := run(config); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// A setup is the part of [serve.Config] that is handed to a child.
type setup struct {
	Data, Database, DatabaseAdmin, MasterKeyFile string
}

func (s setup) config() serve.Config {
	return serve.Config{
		Listen: "127.0.0.1:0", Data: s.Data,
		Database: s.Database, DatabaseAdmin: s.DatabaseAdmin, MasterKeyFile: s.MasterKeyFile,
	}
}

// A greeting is what a child prints once it listens.
type greeting struct {
	URL       string
	Workspace hodl.WorkspaceID
	Keys      map[hodl.Mode]string // of a first start
}

// child serves until SIGTERM, or until the parent is gone: the kernel closes the
// pipe however the parent ends, so that no server outlives its test.
func child(config string) error {
	var s setup
	if err := json.Unmarshal([]byte(config), &s); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(2)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := s.config()
	c.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := serve.Open(ctx, c)
	if err != nil {
		return err
	}
	hello := greeting{URL: server.URL, Keys: map[hodl.Mode]string{}}
	for _, k := range server.FirstKeys {
		hello.Workspace, hello.Keys[k.Stored.Mode] = k.Workspace.ID, k.Key
	}
	if err := json.NewEncoder(os.Stdout).Encode(hello); err != nil {
		return err
	}
	return server.Run(ctx)
}
