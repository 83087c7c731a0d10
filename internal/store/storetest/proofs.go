package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

func proof(name string, until time.Time) *store.Proof {
	return &store.Proof{Digest: sha256.Sum256([]byte(name)), ExpiresAt: until}
}

func (w *world) hydrateWith(ctx context.Context, s *store.Store, k hodl.Token, p *store.Proof) error {
	u := w.use(k)
	u.Proof = p
	return s.Hydrate(ctx, u, admit, w.record(hodl.KindHydrate, k.Session, k.ID), detail)
}

func testProofs(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 9)
	soon := w.Now().Add(time.Minute)
	must(t, w.hydrateWith(ctx, w.Store, k, proof("a", soon)))
	refused(t, "the same again", w.hydrateWith(ctx, w.Store, k, proof("a", soon)), hodl.InvalidProof)
	u := w.use(k)
	u.Proof = proof("a", soon)
	_, err := w.Admission(ctx, u)
	refused(t, "the same before it is tried", err, hodl.InvalidProof)

	write := func(p *store.Proof) error {
		x := w.version(t, s.ID, w.NewID("word"), w.mustSession(t, s.ID).Fingerprint, hodl.OpWrite)
		x.Token, x.Admit, x.Proof, x.Record = k.ID, admit, p, w.record(hodl.KindWrite, s.ID, k.ID)
		return w.PutSession(ctx, x)
	}
	refused(t, "the same for a write", write(proof("a", soon)), hodl.InvalidProof)
	must(t, write(proof("b", soon)))
	refused(t, "that of a write for a hydration", w.hydrateWith(ctx, w.Store, k, proof("b", soon)), hodl.InvalidProof)

	// A proof that a refusal did not accept is not spent.
	must(t, w.Revoke(ctx, w.ws, hodl.Live, w.user, k.ID, "", w.record(hodl.KindRevoke, s.ID, k.ID), detail))
	refused(t, "revoked", w.hydrateWith(ctx, w.Store, k, proof("c", soon)), hodl.TokenRevoked)
	again := w.mint(t, s.ID, 9)
	must(t, w.hydrateWith(ctx, w.Store, again, proof("c", soon)))

	// What is too old goes with the next proof, and only in its own log.
	equal(t, "proofs kept", one[int](t, w, `select count(*) from proofs`), 3)
	w.clock.ticks.Add(2 * time.Minute.Milliseconds())
	must(t, w.hydrate(ctx, w.Store, again))
	equal(t, "proofs kept after a use without one", one[int](t, w, `select count(*) from proofs`), 3)
	must(t, w.hydrateWith(ctx, w.Store, again, proof("d", w.Now().Add(time.Minute))))
	equal(t, "proofs kept after a use with one", one[int](t, w, `select count(*) from proofs`), 1)
}

// replays is how many times testReplays sends a proof that another call sends too.
func replays() int {
	if n, err := strconv.Atoi(os.Getenv("HODL_TEST_REPLAYS")); err == nil && n > 0 {
		return n
	}
	return 2000
}

// Whoever sends a proof, how often, where and when: it is accepted once.
func testReplays(t *testing.T, w *world) {
	const each, callers = 50, 32
	s := w.session(t, "word")
	tokens := make([]hodl.Token, 4)
	for i := range tokens {
		tokens[i] = w.mint(t, s.ID, hodl.MaxHydrations)
	}
	until := w.Now().Add(1000 * time.Hour)
	total := replays()
	proofs := total / each
	var next, accepted atomic.Int64
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(total); i = next.Add(1) - 1 {
				// Neighbours in time send the same proof, to different stores.
				err := w.hydrateWith(context.Background(), w.at(c), tokens[int(i)%len(tokens)], proof(fmt.Sprint(i/each), until))
				switch hodl.CodeOf(err) {
				case "":
					accepted.Add(1)
				case hodl.InvalidProof, hodl.HydrationsExhausted:
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	equal(t, "proofs accepted", int(accepted.Load()), proofs)
	equal(t, "records: mints and hydrations", w.checkLog(t, w.ws, hodl.Live), proofs+len(tokens))
	equal(t, "proofs kept", one[int](t, w, `select count(*) from proofs`), proofs)
}
