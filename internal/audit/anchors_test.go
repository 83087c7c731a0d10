package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/audit"
	"hodl/internal/ledger"
	"hodl/internal/ledger/ledgertest"
)

// anchored waits until the server's log has a head of the workspace's log as it is.
func (s *stage) anchored() {
	s.t.Helper()
	text, err := s.log.Checkpoint(s.t.Context())
	must(s.t, err)
	now, err := ledger.PeekCheckpoint(text)
	must(s.t, err)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		page, err := s.log.Anchors(s.t.Context(), 0)
		must(s.t, err)
		if n := len(page.Anchors); n > 0 && page.Anchors[n-1].Size == now.Size {
			return
		}
		select {
		case <-tick.C:
		case <-s.t.Context().Done():
			s.t.Fatal(s.t.Context().Err())
		}
	}
}

func (s *stage) served() (*audit.Report, error) {
	return audit.Served(s.t.Context(), s.Client, s.verifiers...)
}

// Of a record in the newest tile, which is made of the commitments, the heads in the
// server's log tell that it was forged, and between which of them.
func TestForgedInNewestTile(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, engine)
			s.anchored()
			s.mint()
			s.anchored()
			last := s.newest()
			if r, err := s.served(); err != nil || r.Anchors < 2 || r.Records != records+1 {
				t.Fatalf("untouched: %+v, %v", r, err)
			}
			s.unguard(name, "access_records")
			s.forge(records)
			_, err := s.served()
			if f, ok := errors.AsType[*audit.Fault](err); !ok || f.Seq != records || f.Record != last {
				t.Errorf("alone between two heads: %v; want %d, %s", err, records, last)
			}
			s.forge(records - 1)
			if _, err := s.served(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("to %d was changed together with its commitment", records-1)) {
				t.Errorf("among many: %v", err)
			}
			_, err = s.verify(s.export(), audit.Log{})
			if err == nil || !strings.Contains(err.Error(), "a record was changed together with its commitment") {
				t.Errorf("the export alone: %v", err)
			}
		})
	}
}

// newest is the id of the last record.
func (s *stage) newest() hodl.RecordID {
	s.t.Helper()
	var id hodl.RecordID
	must(s.t, s.raw.QueryRowContext(s.t.Context(), `select id from access_records where mode = 'live' order by seq desc limit 1`).Scan(&id))
	return id
}

// The server's own log tells of every head: what is missing from it, or is another, is
// found.
func TestTamperedAnchors(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, engine)
			s.anchored()
			s.unguardServerLog(name)
			for _, c := range []struct{ what, change, undo, tells string }{
				{
					"a head not told of", `create table kept as select * from anchors; delete from anchors where place = (select max(place) from anchors)`,
					`delete from anchors; insert into anchors select * from kept; drop table kept`, "is a head of this log that the server does not tell of",
				},
				{
					"a head with another root", `create table kept as select * from anchors; update anchors set root = (select commitment from access_records where seq = 1 and mode = 'live') where place = (select max(place) from anchors)`,
					`delete from anchors; insert into anchors select * from kept; drop table kept`, "is of another head than the server says",
				},
				{
					"an entry changed", `create table kept as select * from global_entries; update global_entries set entry = (select a.commitment from access_records a where seq = 1 and mode = 'live') where place = 0`,
					`delete from global_entries; insert into global_entries select * from kept; drop table kept`, "the server's log",
				},
			} {
				s.exec(c.change)
				if _, err := s.served(); err == nil || !strings.Contains(err.Error(), c.tells) {
					t.Errorf("%s: %v", c.what, err)
				}
				s.exec(c.undo)
			}
			if _, err := s.served(); err != nil {
				t.Errorf("as it was: %v", err)
			}
		})
	}
}

func (s *stage) unguardServerLog(engine string) {
	s.t.Helper()
	if engine == "postgres" {
		s.exec(`alter table global_entries disable trigger all`)
		return
	}
	s.exec(`drop trigger global_entries_no_update`)
	s.exec(`drop trigger global_entries_no_delete`)
}

// A server that signs a second history for a workspace has told strangers of the
// first one, in its own log.
func TestSecondHistory(t *testing.T) {
	const origin = "log.example.com/wks_1/live"
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", 32)))
	v, err := ledger.ParseVerifier(ledger.VerifierKey(origin, key.Public().(ed25519.PublicKey)))
	must(t, err)
	first, told := historyOf(t, origin, "first", key), historyOf(t, origin, "second", key)
	anchorKey := []byte(strings.Repeat("a", 32))
	server := &ledgertest.Log{}
	server.Append(ledger.NewAnchor(anchorKey, 0, first.c).Entry())
	for name, c := range map[string]struct {
		history
		tells string
	}{"the one it was": {first, ""}, "another": {told, ledger.ErrFork.Error()}} {
		listed := map[int64]audit.Anchored{0: {Size: first.c.Size, Root: first.c.Root}}
		anchors := &audit.Anchors{Key: anchorKey, Listed: listed, Head: ledger.Checkpoint{Origin: "log.example.com", Size: 1, Root: server.Root()}, Tiles: server.Tiles}
		_, err := audit.Export(strings.NewReader(c.export), audit.Log{Tiles: c.log.Tiles, Anchors: anchors}, v)
		if c.tells == "" && err != nil || c.tells != "" && (err == nil || !strings.Contains(err.Error(), c.tells)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type history struct {
	c      ledger.Checkpoint
	log    *ledgertest.Log
	export string
}

// historyOf is a log of three records with a reason, signed.
func historyOf(t *testing.T, origin, reason string, key ed25519.PrivateKey) history {
	t.Helper()
	h := history{log: &ledgertest.Log{}}
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for seq := range int64(3) {
		body := fmt.Sprintf(`{"id":"acr_%d","kind":"revoke","mode":"live","reason":%q,"seq":%d,"workspace_id":"wks_1"}`, seq, reason, seq)
		salt := [32]byte{byte(seq)}
		sum := ledger.Commit(salt, []byte(body))
		h.log.Append(sum[:])
		must(t, out.Encode(map[string]any{"seq": seq, "commitment": sum[:], "salt": salt[:], "record": json.RawMessage(body)}))
	}
	h.c = ledger.Checkpoint{Origin: origin, Size: 3, Root: h.log.Root()}
	head, err := json.Marshal(map[string]any{"format": "hodl-access-log/1", "workspace_id": "wks_1", "mode": "live", "checkpoint": h.c.Note(h.c.Sign(key))})
	must(t, err)
	h.export = string(head) + "\n" + lines.String()
	return h
}
