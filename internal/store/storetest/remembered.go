package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

// What a store remembers of the rows that it hydrates on is never older than the
// tables, whatever was changed meanwhile, by itself or by another.
func testRemembered(t *testing.T, w *world) {
	ctx := t.Context()
	owner := w.user
	w.user = w.member(t)
	w.putPolicy(t, hodl.Live, "ours", words("one"))
	revoke := func(s *store.Store, kind hodl.RevocationKind, subject string) error {
		return s.RevokeAll(ctx, hodl.Live, "", hodl.Revocation{Kind: kind, Subject: subject, Reason: "leak"}, w.record(hodl.KindRevoke, "", ""), detail)
	}
	limits := hodl.TokenLimits{TTL: hodl.MaxTTL, MaxHydrations: hodl.DefaultLimits.MaxHydrations, Hourly: 100}
	for _, x := range []struct {
		name   string
		change func(s *store.Store, k hodl.Token) error
	}{
		{"a plan", func(s *store.Store, _ hodl.Token) error { return s.SetPlan(ctx, w.ws, hodl.Scale) }},
		{"a cap", func(s *store.Store, _ hodl.Token) error { limits.Hourly++; return s.SetLimits(ctx, w.ws, limits) }},
		{"receipts", func(s *store.Store, _ hodl.Token) error {
			_, err := s.ChangeWorkspace(ctx, w.ws, func(x *hodl.Workspace) error { x.Receipts = !x.Receipts; return nil })
			return err
		}},
		{"a policy", func(s *store.Store, _ hodl.Token) error { return s.UsePolicy(ctx, w.ws, hodl.Live, "ours") }},
		{"another policy", func(s *store.Store, _ hodl.Token) error { return s.UsePolicy(ctx, w.ws, hodl.Live, hodl.DefaultPolicy) }},
		{"a hydration", func(s *store.Store, k hodl.Token) error { return w.hydrate(ctx, s, k) }},
		{"a new version", func(s *store.Store, k hodl.Token) error {
			return s.PutSession(ctx, w.version(t, k.Session, "new", w.mustSession(t, k.Session).Fingerprint, hodl.OpCapture))
		}},
		{"a revocation", func(s *store.Store, k hodl.Token) error {
			return s.Revoke(ctx, w.ws, hodl.Live, w.user, k.ID, "", w.record(hodl.KindRevoke, k.Session, k.ID), detail)
		}},
		{"a revocation of a key's", func(s *store.Store, k hodl.Token) error { return revoke(s, hodl.OfKey, string(k.Key)) }},
		{"a revocation of all", func(s *store.Store, k hodl.Token) error { return revoke(s, hodl.OfWorkspace, string(w.ws)) }},
		{"an archive", func(s *store.Store, k hodl.Token) error { return s.MoveSession(ctx, w.move(k.Session, hodl.OpArchive)) }},
		{"an erasure", func(s *store.Store, k hodl.Token) error {
			w.user = owner
			defer func() { w.user = k.User }()
			if _, err := s.ChangeMember(ctx, w.ws, k.User, func(m *hodl.Membership) error { m.RemovedAt = w.Now(); return nil }); err != nil {
				return err
			}
			_, err := s.EraseUser(ctx, store.Erasure{Workspace: w.ws, User: k.User, Detail: detail, Record: func(m hodl.Mode) *hodl.Record {
				r := w.record(hodl.KindErased, "", "")
				r.User, r.Mode = k.User, m
				return r
			}})
			return err
		}},
	} {
		for i := range w.stores {
			k := w.mint(t, w.session(t, "word").ID, 100)
			must(t, w.hydrate(ctx, w.Store, k))
			must(t, w.hydrate(ctx, w.Store, k))
			must(t, x.change(w.at(i), k))
			use := w.use(k)
			use.At = use.At.Truncate(time.Hour)
			var got store.Admission
			stop := errors.New("only looking")
			err := w.Hydrate(context.Background(), use, func(a store.Admission) error { got = a; return stop }, w.record(hodl.KindHydrate, k.Session, k.ID), detail)
			equal(t, x.name+": refusal", errors.Is(err, stop), true)
			for _, s := range w.stores {
				must(t, s.Settle(ctx))
			}
			want, err := w.Admission(ctx, use)
			must(t, err)
			equal(t, x.name, got, want)
		}
	}
}
