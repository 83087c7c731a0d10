package storetest

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/ledger"
	"hodl/internal/store"
)

// signer signs logs with a key that every store of the tests has.
type signer struct{}

var logKey = ed25519.NewKeyFromSeed(slices.Repeat([]byte{1}, ed25519.SeedSize))

func (signer) Origin() string { return "hodl.example.com/log" }

func (signer) Sign(c ledger.Checkpoint) []byte { return c.Sign(logKey) }

func (signer) Check(c ledger.Checkpoint, signatures []byte) error {
	v, err := ledger.ParseVerifier(ledger.VerifierKey(c.Origin, logKey.Public().(ed25519.PublicKey)))
	if err != nil {
		return err
	}
	_, err = ledger.OpenCheckpoint(c.Note(signatures), v)
	return err
}

func (signer) Renew(_ ledger.Checkpoint, signatures []byte) []byte { return signatures }

// checkHead holds the head of a log, and every tile, against the tree of its records.
func (w *world) checkHead(t testing.TB, ws hodl.WorkspaceID, m hodl.Mode, tree *ledger.Frontier) {
	t.Helper()
	head, err := w.LogHead(t.Context(), ws, m)
	must(t, err)
	equal(t, "root", head.Root, tree.Root())
	equal(t, "size", head.Size, tree.Size())
	must(t, signer{}.Check(head.Checkpoint, head.Signatures))
	edge, err := ledger.FrontierOf(tree.Size(), w.tiles(t, ws, m))
	must(t, err)
	equal(t, "root of the last tiles", edge.Root(), tree.Root())
}

func (w *world) tiles(t testing.TB, ws hodl.WorkspaceID, m hodl.Mode) ledger.Tiles {
	return func(list []ledger.Tile) ([][]byte, error) { return w.LogTiles(t.Context(), ws, m, list) }
}

// fill appends n records, many at once.
func (w *world) fill(t testing.TB, n int) {
	t.Helper()
	got := together(n, func(i int) error {
		return w.at(i).Append(t.Context(), w.record(hodl.KindDenied, "ses_1", "rt_1"), detail)
	})
	equal(t, "verdicts", got, map[hodl.Code]int{"": n})
}

// testPlaces proves each record from what its commit left, in batches with others.
func testPlaces(t *testing.T, w *world) {
	w.fill(t, 250)
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 100)
	const n = 60
	places, records := make([]store.Place, n), make([]*hodl.Record, n)
	got := together(n, func(i int) error {
		u := w.use(k)
		u.Place, records[i] = &places[i], w.record(hodl.KindHydrate, s.ID, k.ID)
		if i%5 == 0 {
			return w.at(i).Read(t.Context(), u, admit, records[i], detail)
		}
		return w.at(i).Hydrate(t.Context(), u, admit, records[i], detail)
	})
	equal(t, "verdicts", got, map[hodl.Code]int{"": n})
	head, err := w.LogHead(t.Context(), w.ws, hodl.Live)
	must(t, err)
	v, err := ledger.ParseVerifier(ledger.VerifierKey(head.Origin, logKey.Public().(ed25519.PublicKey)))
	must(t, err)
	for i := range places {
		r, err := places[i].Receipt()
		must(t, err)
		equal(t, "index", r.Index, records[i].Seq)
		commitment := one[[]byte](t, w, `select commitment from access_records where workspace = $1 and mode = 'live' and seq = $2`, w.ws, r.Index)
		c, err := r.Verify(commitment, v)
		must(t, err)
		kept, err := w.Receipt(t.Context(), w.ws, hodl.Live, r.Index)
		must(t, err)
		equal(t, "salt", r.Extra, kept.Extra)
		if c == head.Checkpoint {
			equal(t, "receipt", r, kept)
		}
	}
	if _, err := (&store.Place{}).Receipt(); err == nil {
		t.Error("no place has a receipt")
	}
}

func testLog(t *testing.T, w *world) {
	w.fill(t, 3)
	w.checkLog(t, w.ws, hodl.Live)
	w.fill(t, 700)
	w.checkLog(t, w.ws, hodl.Live)
	head, err := w.LogHead(t.Context(), w.ws, hodl.Live)
	must(t, err)
	equal(t, "size", head.Size, 703)
	for _, seq := range []int64{0, 1, 255, 256, 511, 512, 702} {
		commitment := one[[]byte](t, w, `select commitment from access_records where workspace = $1 and mode = 'live' and seq = $2`, w.ws, seq)
		r, err := w.Receipt(t.Context(), w.ws, hodl.Live, seq)
		must(t, err)
		v, err := ledger.ParseVerifier(ledger.VerifierKey(head.Origin, logKey.Public().(ed25519.PublicKey)))
		must(t, err)
		if _, err := r.Verify(commitment, v); err != nil {
			t.Errorf("receipt of %d: %v", seq, err)
		}
		equal(t, "length of the salt", len(r.Extra), 32)
	}
	for level, want := range map[int][]int{0: {256, 256, 191}, 1: {2}, ledger.Entries: {256, 256, 191}} {
		tiles := ledger.TilesOf(level, head.Size)
		got, err := w.LogTiles(t.Context(), w.ws, hodl.Live, tiles)
		must(t, err)
		size := 32
		if level == ledger.Entries {
			size = 34
		}
		for i, n := range want {
			equal(t, tiles[i].Path(), len(got[i]), n*size)
		}
	}
	for _, missing := range []ledger.Tile{{Level: 0, Index: 2, Width: 192}, {Level: 0, Index: 2, Width: 256}, {Level: 1, Width: 3}, {Level: 2, Width: 1}, {Level: ledger.Entries, Index: 3, Width: 1}} {
		_, err := w.LogTiles(t.Context(), w.ws, hodl.Live, []ledger.Tile{missing})
		refused(t, missing.Path(), err, hodl.NotFound)
	}
	_, err = w.LogHead(t.Context(), "wks_none", hodl.Live)
	refused(t, "log of no workspace", err, hodl.NotFound)
	must(t, w.CheckLogs(t.Context()))
}

// unguard takes the triggers of a table away, as somebody with a shell could.
func (w *world) unguard(t testing.TB, triggers map[string]string) {
	t.Helper()
	for trigger, table := range triggers {
		text := "drop trigger " + trigger
		if w.Engine() == "postgres" {
			text += " on " + table
		}
		exec(t, w.raw(t), text)
	}
}

var allGuards = map[string]string{
	"log_heads_grow": "log_heads", "log_heads_no_delete": "log_heads", "log_tiles_grow": "log_tiles", "log_tiles_no_delete": "log_tiles",
}

func (w *world) unguardRecords(t testing.TB) {
	t.Helper()
	w.unguard(t, allGuards)
	if w.Engine() == "postgres" {
		w.unguard(t, map[string]string{"access_records_append_only": "access_records", "access_details_append_only": "access_details"})
		return
	}
	w.unguard(t, map[string]string{"access_records_no_update": "", "access_records_no_delete": "", "access_details_no_update": "", "access_details_no_delete": ""})
}

// A database from before there were trees gets them, and a log that was grown
// without a key is signed.
func testLogMadeLater(t *testing.T, w *world) {
	w.fill(t, 600)
	before, err := w.LogHead(t.Context(), w.ws, hodl.Live)
	must(t, err)
	exec(t, w.raw(t), `update log_heads set signatures = '' where workspace = $1`, w.ws)
	must(t, w.CheckLogs(t.Context()))
	w.checkLog(t, w.ws, hodl.Live)
	w.unguard(t, allGuards)
	exec(t, w.raw(t), `update log_heads set tree = '', signatures = '' where workspace = $1`, w.ws)
	exec(t, w.raw(t), `delete from log_tiles where workspace = $1`, w.ws)
	must(t, w.CheckLogs(t.Context()))
	w.checkLog(t, w.ws, hodl.Live)
	after, err := w.LogHead(t.Context(), w.ws, hodl.Live)
	must(t, err)
	equal(t, "checkpoint", after.Text(), before.Text())
	w.fill(t, 200)
	w.checkLog(t, w.ws, hodl.Live)
}

func testLogTampered(t *testing.T, w *world) {
	w.fill(t, 300)
	w.unguardRecords(t)
	for name, change := range map[string][2]string{
		"a commitment of the last tile": {
			`update access_records set commitment = (select x.commitment from access_records x where x.seq = 298 and x.workspace = access_records.workspace and x.mode = 'live') where seq = 299 and workspace = $1`,
			"records 296 to 299",
		},
		"a full tile above":   {`update log_tiles set hashes = (select substr(tree, 33, 32) from log_heads where size > 0) where level = 1 and workspace = $1`, "records 0 to 255"},
		"a record too many":   {`insert into access_records select workspace, mode, 300, 'acr_x', kind, member, session, jti, actor, at, body, commitment from access_records where seq = 0 and workspace = $1`, "counts 300 records and the last is number 300"},
		"a record cut off":    {`delete from access_records where seq = 299 and workspace = $1`, "counts 300 records and the last is number 298"},
		"a signature":         {`update log_heads set signatures = (select tree from log_heads where size > 0) where size > 0 and workspace = $1`, "not signed"},
		"another size":        {`update log_heads set size = 301 where size > 0 and workspace = $1`, "counts 301 records and the last is number 299"},
		"the tree of another": {`update log_heads set tree = (select hashes from log_tiles where level = 0 and tile = 0) where size > 0 and workspace = $1`, "its head is damaged"},
	} {
		tx, err := w.raw(t).BeginTx(t.Context(), nil)
		must(t, err)
		// What is put back afterwards.
		saved := map[string]string{"records_kept": "access_records", "tiles_kept": "log_tiles", "heads_kept": "log_heads"}
		for copied, table := range saved {
			_, err = tx.ExecContext(t.Context(), `create table `+copied+` as select * from `+table)
			must(t, err)
		}
		_, err = tx.ExecContext(t.Context(), change[0], w.ws)
		must(t, err)
		must(t, tx.Commit())
		err = w.CheckLogs(t.Context())
		if err == nil {
			t.Errorf("%s: was not seen", name)
		} else if !strings.Contains(err.Error(), change[1]) {
			t.Errorf("%s: %v does not tell that %s", name, err, change[1])
		}
		for copied, table := range saved {
			exec(t, w.raw(t), `delete from `+table)
			exec(t, w.raw(t), `insert into `+table+` select * from `+copied)
			exec(t, w.raw(t), `drop table `+copied)
		}
		must(t, w.CheckLogs(t.Context()))
	}
}

func testLogAppendOnly(t *testing.T, w *world) {
	w.fill(t, 300)
	for _, text := range []string{
		`delete from log_heads`, `delete from log_tiles`, `update log_tiles set hashes = ''`,
		`update log_heads set size = size - 1 where size > 0`, `update log_heads set size = size + 1 where size > 0`,
	} {
		_, err := w.raw(t).ExecContext(t.Context(), text)
		if err == nil {
			t.Errorf("%s: was not refused", text)
			continue
		}
		contains(t, err.Error(), "append-only")
	}
	_, err := w.Receipt(t.Context(), w.ws, hodl.Live, 300)
	if err == nil || errors.Is(err, &hodl.Error{Code: hodl.NotFound}) {
		t.Errorf("the receipt of a record that is not there: %v", err)
	}
}

func testServerLog(t *testing.T, w *world) {
	ctx := t.Context()
	other, _ := w.workspace(t, "rival", hodl.Enterprise)
	seen := []ledger.Checkpoint{}
	head := func() ledger.Checkpoint {
		h, err := w.ServerLogHead(ctx)
		must(t, err)
		must(t, signer{}.Check(h.Checkpoint, h.Signatures))
		return h.Checkpoint
	}
	seen = append(seen, head())
	for i := range 300 {
		rec := w.record(hodl.KindDenied, "ses_1", "")
		if i%3 == 0 {
			rec.Workspace = other
		}
		must(t, w.Append(ctx, rec, detail))
		w.clock.advance(time.Second)
		must(t, w.Settle(ctx))
		n, err := w.at(i).Anchor(ctx)
		must(t, err)
		equal(t, "heads appended", n, 1)
		seen = append(seen, head())
	}
	n, err := w.Anchor(ctx)
	must(t, err)
	equal(t, "heads of logs that have not grown", n, 0)
	tiles := func(list []ledger.Tile) ([][]byte, error) { return w.ServerLogTiles(ctx, list) }
	last := seen[len(seen)-1]
	equal(t, "size", last.Size, 300)
	for _, c := range seen {
		proof, err := ledger.ProveConsistency(last, c.Size, tiles)
		must(t, err)
		must(t, ledger.CheckConsistency(c, last, proof))
	}
	w.checkAnchors(t, w.ws, 200, tiles, last)
	w.checkAnchors(t, other, 100, tiles, last)
	must(t, w.CheckLogs(ctx))
}

// checkAnchors finds the entries of a workspace as it would itself: by its key alone.
func (w *world) checkAnchors(t *testing.T, ws hodl.WorkspaceID, want int, tiles ledger.Tiles, c ledger.Checkpoint) {
	t.Helper()
	key, err := w.AnchorKey(t.Context(), ws, hodl.Live)
	must(t, err)
	equal(t, "length of the key", len(key), 32)
	list, err := w.Anchors(t.Context(), ws, hodl.Live, 0, 1000)
	must(t, err)
	equal(t, "anchors", len(list), want)
	known := map[int64]ledger.Anchor{}
	for _, a := range list {
		known[a.Place] = ledger.NewAnchor(key, a.Place, ledger.Checkpoint{Origin: store.LogOrigin(signer{}.Origin(), ws, hodl.Live), Size: a.Size, Root: a.Root})
	}
	place := int64(0)
	for _, tile := range ledger.TilesOf(ledger.Entries, c.Size) {
		bundles, err := tiles([]ledger.Tile{tile})
		must(t, err)
		entries, err := ledger.ParseBundle(bundles[0])
		must(t, err)
		for _, entry := range entries {
			got, ok := ledger.ParseAnchor(entry)
			if own := got.Tag == ledger.AnchorTag(key, place); !ok || own != (known[place] == got) {
				t.Errorf("entry %d: own %t, known %v", place, own, known[place])
			}
			place++
		}
	}
}

// Many servers at once append each head once, and one at a time.
func testServerLogAtOnce(t *testing.T, w *world) {
	ctx := t.Context()
	workspaces := []hodl.WorkspaceID{w.ws}
	for i := range 8 {
		ws, _ := w.workspace(t, "w"+strconv.Itoa(i), hodl.Enterprise)
		workspaces = append(workspaces, ws)
	}
	for range 5 {
		for _, ws := range workspaces {
			rec := w.record(hodl.KindDenied, "ses_1", "")
			rec.Workspace = ws
			must(t, w.Append(ctx, rec, detail))
		}
		w.clock.advance(time.Second)
		must(t, w.Settle(ctx))
		got := together(8, func(i int) error {
			_, err := w.at(i).Anchor(ctx)
			return err
		})
		equal(t, "verdicts", got, map[hodl.Code]int{"": 8})
	}
	h, err := w.ServerLogHead(ctx)
	must(t, err)
	equal(t, "entries", h.Size, int64(5*len(workspaces)))
	must(t, w.CheckLogs(ctx))
}

// What lies in the database does not tell a stranger which entry is whose.
func testServerLogBlind(t *testing.T, w *world) {
	w.fill(t, 1)
	w.clock.advance(time.Second)
	_, err := w.Anchor(t.Context())
	must(t, err)
	key, err := w.AnchorKey(t.Context(), w.ws, hodl.Live)
	must(t, err)
	if sealed := one[[]byte](t, w, `select key from anchor_keys where workspace = $1`, w.ws); strings.Contains(string(sealed), string(key)) {
		t.Error("the anchor key lies open")
	}
	none, err := w.AnchorKey(t.Context(), w.ws, hodl.Sandbox)
	must(t, err)
	equal(t, "key of a log without entries", none, nil)
}

func testEraseUser(t *testing.T, w *world) {
	ctx := t.Context()
	owner := w.user
	w.user = w.member(t)
	erased := w.user
	session := w.session(t, "canary")
	k := w.mint(t, session.ID, 300)
	for range 260 {
		must(t, w.hydrate(ctx, w.Store, k))
	}
	must(t, w.PutHodl(ctx, store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: erased, Hodl: hodl.Hodl{ID: "hdl_1", Note: "canary", Tags: []string{"t"}, CreatedAt: w.Now(), UpdatedAt: w.Now()}}))
	w.user = owner
	kept := w.session(t, "kept")
	w.mint(t, kept.ID, 1)
	order := store.Erasure{Workspace: w.ws, User: erased, Dry: true, Detail: detail, Record: func(m hodl.Mode) *hodl.Record {
		r := w.record(hodl.KindErased, "", "")
		r.User, r.Mode = erased, m
		return r
	}}
	_, err := w.EraseUser(ctx, order)
	refused(t, "a member", err, hodl.Conflict)
	_, err = w.ChangeMember(ctx, w.ws, erased, func(m *hodl.Membership) error { m.RemovedAt = w.Now(); return nil })
	must(t, err)
	want := &store.Erased{Sessions: 1, Hodls: 1, Details: 261, Records: 261}
	got, err := w.EraseUser(ctx, order)
	must(t, err)
	equal(t, "what would go", got, want)
	equal(t, "details while it is dry", one[int](t, w, `select count(*) from access_details where workspace = $1`, w.ws), 262)
	// Nothing else takes them.
	if _, err := w.raw(t).ExecContext(ctx, `delete from access_details where workspace = $1 and seq = 0`, w.ws); err == nil {
		t.Error("details were deleted though nobody was erased")
	}
	before, err := w.Receipt(ctx, w.ws, hodl.Live, 5)
	must(t, err)
	order.Dry = false
	got, err = w.EraseUser(ctx, order)
	must(t, err)
	equal(t, "what went", got, want)
	for table, left := range map[string]int{"sessions": 1, "session_versions": 1, "hodls": 0, "hodl_tags": 0, "access_details": 3, "access_records": 264} {
		equal(t, table, one[int](t, w, `select count(*) from `+table+` where workspace = $1`, w.ws), left)
	}
	if _, err := w.raw(t).ExecContext(ctx, `delete from access_details where workspace = $1`, w.ws); err == nil {
		t.Error("the details of others were deleted")
	}
	commitment := one[[]byte](t, w, `select commitment from access_records where workspace = $1 and mode = 'live' and seq = 5`, w.ws)
	after, err := w.Receipt(ctx, w.ws, hodl.Live, 5)
	must(t, err)
	equal(t, "salt after", after.Extra, nil)
	v, err := ledger.ParseVerifier(ledger.VerifierKey(store.LogOrigin(signer{}.Origin(), w.ws, hodl.Live), logKey.Public().(ed25519.PublicKey)))
	must(t, err)
	for _, r := range []*ledger.Receipt{before, after} {
		if _, err := r.Verify(commitment, v); err != nil {
			t.Error(err)
		}
	}
	must(t, w.CheckLogs(ctx))
	must(t, w.Append(ctx, w.record(hodl.KindDenied, "", ""), detail)) // the batches go on from there
	must(t, w.CheckLogs(ctx))
	if strays, err := w.StrayLogRows(ctx, w.ws, hodl.Live, ""); err != nil || len(strays) > 0 {
		t.Errorf("%d records past the head, %v", len(strays), err)
	}
	rows, err := w.LogRows(ctx, w.ws, hodl.Live, "", ledger.Span{From: 260, To: 264})
	must(t, err)
	equal(t, "salts at the end", []bool{rows[0].Salt == nil, rows[1].Salt == nil, rows[2].Salt == nil, rows[3].Salt == nil}, []bool{true, false, false, false})
	mine, err := w.LogRows(ctx, w.ws, hodl.Live, owner, ledger.Span{From: 260, To: 262})
	must(t, err)
	equal(t, "another's record", mine[0].Body, "")
	again, err := w.EraseUser(ctx, order)
	must(t, err)
	equal(t, "the second time", again, &store.Erased{Records: 261})
}
