package storetest

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"hodl"
	"hodl/internal/fingerprint"
	"hodl/internal/ledger"
	"hodl/internal/store"
)

// checkLog recomputes a whole log from the raw rows and returns its length: places
// without a gap from 0, canonical bodies, commitments that hold, a head that knows
// its size.
func (w *world) checkLog(t testing.TB, ws hodl.WorkspaceID, m hodl.Mode) int {
	t.Helper()
	rows, err := w.raw(t).QueryContext(t.Context(), `select r.seq, r.body, r.commitment, d.salt from access_records r
		join access_details d on d.workspace = r.workspace and d.mode = r.mode and d.seq = r.seq
		where r.workspace = $1 and r.mode = $2 order by r.seq`, ws, m)
	must(t, err)
	defer rows.Close()
	n := 0
	tree := &ledger.Frontier{}
	for ; rows.Next(); n++ {
		var seq int64
		var body string
		var commitment, salt []byte
		must(t, rows.Scan(&seq, &body, &commitment, &salt))
		equal(t, "seq", seq, int64(n))
		canonical, err := fingerprint.Canonical(jsontext.Value(body))
		must(t, err)
		equal(t, "canonical body", body, string(canonical))
		sum := sha256.Sum256([]byte("hodl/acc/v1" + string(salt) + body))
		equal(t, "commitment", commitment, sum[:])
		equal(t, "length of the salt", len(salt), 32)
		tree.Append(ledger.Leaf(commitment), nil)
	}
	must(t, rows.Err())
	equal(t, "size in the log's head", one[int](t, w, `select size from log_heads where workspace = $1 and mode = $2`, ws, m), n)
	w.checkHead(t, ws, m, tree)
	equal(t, "records without details", one[int](t, w, `select count(*) from access_records where workspace = $1 and mode = $2`, ws, m), n)
	return n
}

// fullRecord has every field set, with text that JSON writers like to differ on.
func (w *world) fullRecord() *hodl.Record {
	r := w.record(hodl.KindHydrate, "ses_1", "rt_1")
	r.Actor = "a \"quoted\" \\ <b>&amp; \u2028 \u007f \x01 \t é 𝄞 \"seq\":-1"
	r.Bearer, r.Count, r.Code, r.Reason, r.Fingerprint = true, 3, hodl.NotFound, "seq", "ff"
	r.Scopes = []hodl.Scope{hodl.ReadContext}
	r.Policies = []hodl.PolicyUse{{Name: "default", Version: 2}}
	r.Redactions = []hodl.RedactionUse{{Count: 1, Path: "tabs[0].url", Rule: "aws"}}
	r.Returned = &hodl.Returned{Bytes: 10, Format: "json", SHA256: "aa"}
	return r
}

func testCanonical(t *testing.T, w *world) {
	ctx := t.Context()
	for _, r := range []*hodl.Record{w.fullRecord(), {
		ID: "acr_small", Kind: hodl.KindDenied, At: w.Now(), Workspace: w.ws, Mode: hodl.Live, User: w.user,
	}} {
		must(t, w.Append(ctx, r, detail))
		got, err := w.Record(ctx, w.ws, hodl.Live, w.user, r.ID)
		must(t, err)
		want := *r
		want.Seq = got.Seq
		equal(t, "record", *got, want)
		text, err := fingerprint.Canonical(got)
		must(t, err)
		equal(t, "body, against the record encoded again", one[string](t, w, `select body from access_records where id = $1`, r.ID), string(text))
	}
	equal(t, "records", w.checkLog(t, w.ws, hodl.Live), 2)
	equal(t, "address", one[string](t, w, `select address from access_details where seq = 0 and workspace = $1`, w.ws), detail.Address)
}

func testRecords(t *testing.T, w *world) {
	ctx := t.Context()
	for range 5 {
		must(t, w.Append(ctx, w.record(hodl.KindDenied, "ses_1", "rt_1"), detail))
	}
	foreign := w.record(hodl.KindDenied, "ses_1", "rt_1")
	foreign.Workspace = "wks_none"
	refused(t, "record of no workspace", w.Append(ctx, foreign, detail), hodl.NotFound)
	var seen []int64
	for f := (store.RecordFilter{User: w.user, Page: store.Page{Limit: 2}}); ; {
		page, err := w.Records(ctx, w.ws, hodl.Live, f)
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			seen = append(seen, r.Seq)
			f.BeforeID = string(r.ID)
		}
	}
	equal(t, "pages", seen, []int64{4, 3, 2, 1, 0})
	_, err := w.Record(ctx, w.ws, hodl.Live, w.user, "acr_none")
	refused(t, "no such record", err, hodl.NotFound)
}

func testRecordFilters(t *testing.T, w *world) {
	a, b := w.record(hodl.KindMint, "ses_a", "rt_a"), w.record(hodl.KindHydrate, "ses_b", "rt_b")
	b.Actor = "key_9"
	for _, r := range []*hodl.Record{a, b} {
		must(t, w.Append(t.Context(), r, detail))
	}
	for name, c := range map[string]struct {
		change func(*store.RecordFilter)
		want   []hodl.RecordID
	}{
		"all":     {func(*store.RecordFilter) {}, []hodl.RecordID{b.ID, a.ID}},
		"session": {func(f *store.RecordFilter) { f.Session = "ses_a" }, []hodl.RecordID{a.ID}},
		"jti":     {func(f *store.RecordFilter) { f.JTI = "rt_b" }, []hodl.RecordID{b.ID}},
		"actor":   {func(f *store.RecordFilter) { f.Actor = "key_9" }, []hodl.RecordID{b.ID}},
		"kind":    {func(f *store.RecordFilter) { f.Kind = hodl.KindMint }, []hodl.RecordID{a.ID}},
		"since":   {func(f *store.RecordFilter) { f.Since = b.At }, []hodl.RecordID{b.ID}},
		"until":   {func(f *store.RecordFilter) { f.Until = b.At }, []hodl.RecordID{a.ID}},
		"nothing": {func(f *store.RecordFilter) { f.Kind, f.Session = hodl.KindMint, "ses_b" }, nil},
	} {
		f := store.RecordFilter{User: w.user, Page: store.Page{Limit: 9}}
		c.change(&f)
		list, err := w.Records(t.Context(), w.ws, hodl.Live, f)
		must(t, err)
		var ids []hodl.RecordID
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		equal(t, name, ids, c.want)
	}
}

func testImmutable(t *testing.T, w *world) {
	must(t, w.Append(t.Context(), w.record(hodl.KindDenied, "ses_1", ""), detail))
	statements := []string{
		`update access_records set actor = 'nobody'`, `delete from access_records`,
		`update access_details set address = ''`, `delete from access_details`,
	}
	if w.Engine() == "postgres" {
		statements = append(statements, `truncate access_records`, `truncate access_details`)
	}
	for _, text := range statements {
		if _, err := w.raw(t).ExecContext(t.Context(), text); err == nil {
			t.Errorf("%s: was not refused", text)
		} else {
			contains(t, err.Error(), "immutable")
		}
	}
	equal(t, "records", w.checkLog(t, w.ws, hodl.Live), 1)
}

func testMixedLog(t *testing.T, w *world) {
	ctx := t.Context()
	const n = 24
	sessions := make([]*hodl.Session, n)
	tokens := make([]hodl.Token, n)
	for i := range n {
		sessions[i] = w.session(t, "word")
		tokens[i] = w.mint(t, sessions[i].ID, 5)
	}
	got := together(4*n, func(i int) error {
		k := tokens[i%n]
		switch i / n {
		case 0:
			return w.hydrate(ctx, w.Store, k)
		case 1:
			return w.Append(ctx, w.record(hodl.KindDenied, k.Session, k.ID), detail)
		case 2:
			r := w.record(hodl.KindDenied, k.Session, k.ID)
			r.Mode = hodl.Sandbox
			return w.Append(ctx, r, detail)
		}
		move := w.move(k.Session, hodl.OpResume)
		move.Record = w.record(hodl.KindResume, k.Session, "")
		return w.MoveSession(ctx, move)
	})
	equal(t, "verdicts", got, map[hodl.Code]int{"": 4 * n})
	equal(t, "live records", w.checkLog(t, w.ws, hodl.Live), 4*n)
	equal(t, "sandbox records", w.checkLog(t, w.ws, hodl.Sandbox), n)
}

// eventsOf lists the events of a session in the outbox, oldest first.
func (w *world) eventsOf(t testing.TB, id hodl.SessionID) []hodl.EventType {
	t.Helper()
	rows, err := w.raw(t).QueryContext(t.Context(), `select type from outbox where session = $1 order by at, id`, id)
	must(t, err)
	defer rows.Close()
	var out []hodl.EventType
	for rows.Next() {
		var e hodl.EventType
		must(t, rows.Scan(&e))
		out = append(out, e)
	}
	must(t, rows.Err())
	return out
}

func testEvents(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 2)
	must(t, w.hydrate(ctx, w.Store, k))
	must(t, w.hydrate(ctx, w.Store, k))
	must(t, w.MoveSession(ctx, w.move(s.ID, hodl.OpResume)))
	refused(t, "exhausted", w.hydrate(ctx, w.Store, k), hodl.HydrationsExhausted)
	equal(t, "events", w.eventsOf(t, s.ID), []hodl.EventType{hodl.SessionHeld, hodl.SessionShared, hodl.SessionHandedOff, hodl.SessionResumed})
	equal(t, "tokens named", one[int](t, w, `select count(*) from outbox where jti = $1 and workspace = $2 and mode = 'live'`, k.ID, w.ws), 2)
	at := one[int64](t, w, `select max(at) from outbox`)
	if now := w.Now(); time.UnixMicro(at).After(now) {
		t.Errorf("an event of %v, after %v", time.UnixMicro(at), now)
	}
}
