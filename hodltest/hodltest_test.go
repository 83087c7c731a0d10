package hodltest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/client"
	"hodl/hodltest"
)

func mint(t *testing.T, c *client.Client) *client.Minted {
	t.Helper()
	captured, err := c.CaptureSession(t.Context(), hodl.SessionDraft{Title: "the cache bug"})
	if err != nil {
		t.Fatal(err)
	}
	minted, err := c.Mint(t.Context(), hodl.TokenDraft{
		Session: captured.ID, Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext},
	})
	if err != nil {
		t.Fatal(err)
	}
	return minted
}

func TestEngines(t *testing.T) {
	for _, engine := range []struct {
		name    string
		options func(*testing.T) []hodltest.Option
	}{
		{"sqlite", func(*testing.T) []hodltest.Option { return nil }},
		{"postgres", func(t *testing.T) []hodltest.Option { return []hodltest.Option{hodltest.Postgres(t)} }},
	} {
		t.Run(engine.name, func(t *testing.T) {
			server := hodltest.Start(t, engine.options(t)...)
			minted := mint(t, server.Sandbox())
			if given, err := server.Agent(minted.Token).Hydrate(t.Context(), minted.Session); err != nil || given.Title != "the cache bug" {
				t.Errorf("received %+v, %v", given, err)
			}
			if _, err := server.Client().Session(t.Context(), minted.Session); !errors.Is(err, &hodl.Error{Code: hodl.NotFound}) {
				t.Errorf("the live key sees a sandbox session: %v", err)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	server := hodltest.Start(t, hodltest.Plan(hodl.Developer))
	usage, err := server.Client().Usage(t.Context())
	if err != nil || usage.Plan != hodl.Developer || usage.Quota == nil || *usage.Quota != 10_000 {
		t.Errorf("usage %+v, %v", usage, err)
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2031, 5, 5, 22, 14, 8, 0, time.UTC)
	server := hodltest.Start(t, hodltest.Clock(func() time.Time { return now }))
	if minted := mint(t, server.Client()); !minted.ExpiresAt.Equal(now.Add(hodl.DefaultTTL)) {
		t.Errorf("expires at %s", minted.ExpiresAt)
	}
}

// TestData starts a second server where a first one stopped.
func TestData(t *testing.T) {
	dir := hodltest.Data(t.TempDir())
	first := hodltest.Start(t, dir)
	minted := mint(t, first.Client())
	first.Stop()
	second := hodltest.Start(t, dir)
	if second.LiveKey != "" {
		t.Error("the second start made keys")
	}
	if _, err := client.New(second.URL, first.LiveKey).Session(t.Context(), minted.Session); err != nil {
		t.Error(err)
	}
}

func TestDemo(t *testing.T) {
	server := hodltest.Start(t, hodltest.Demo())
	demo := client.New(server.URL, "uh_test_"+"sandbox_demo_key_v0")
	if s, err := demo.Session(t.Context(), "ses_8f3aZ91b"); err != nil || s.Title == "" {
		t.Errorf("session %+v, %v", s, err)
	}
	ctx := t.Context()
	for _, scope := range must(demo.Me(ctx)).Scopes {
		if resource, _, _ := strings.Cut(scope, ":"); !slices.Contains([]string{"hodls", "sessions", "tokens", "records", "usage"}, resource) {
			t.Errorf("the public key carries %s", scope)
		}
	}
	for what, call := range map[string]func() error{
		"lists keys":       func() error { _, err := demo.Keys(ctx, client.KeyQuery{}); return err },
		"makes keys":       func() error { _, err := demo.CreateKey(ctx, hodl.KeyDraft{Name: "x"}); return err },
		"rotates itself":   func() error { _, err := demo.RotateKey(ctx, must(demo.Me(ctx)).KeyID, 0); return err },
		"lists members":    func() error { _, err := demo.Members(ctx, client.Page{}); return err },
		"invites":          func() error { _, err := demo.AddMember(ctx, client.MemberDraft{Name: "x"}); return err },
		"lists workspaces": func() error { _, err := demo.Workspaces(ctx, client.Page{}); return err },
		"makes workspaces": func() error { _, err := demo.CreateWorkspace(ctx, "x"); return err },
	} {
		if err := call(); !errors.Is(err, &hodl.Error{Code: hodl.InsufficientScope}) {
			t.Errorf("the public key %s: %v", what, err)
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
