package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"hodl"
	"hodl/internal/audit"
	"hodl/internal/fingerprint"
	"hodl/internal/ledger"
)

// verifiers reads the keys that a log publishes.
func (w *world) verifiers(as, path string) []ledger.Verifier {
	w.t.Helper()
	var body struct {
		Origin string
		Keys   []struct {
			Key string `json:"verifier_key"`
		}
	}
	w.must(json.Unmarshal(w.ok(as, "GET", path, "").body, &body))
	var out []ledger.Verifier
	for _, k := range body.Keys {
		v, err := ledger.ParseVerifier(k.Key)
		w.must(err)
		if v.Name() != body.Origin {
			w.t.Errorf("a key of %s for the log %s", v.Name(), body.Origin)
		}
		out = append(out, v)
	}
	return out
}

func (w *world) logPath(rest string) string { return "/v1/workspaces/" + string(w.ws) + "/log" + rest }

// tiles reads a log over HTTP.
func (w *world) tiles(as, prefix string) ledger.Tiles {
	return func(list []ledger.Tile) ([][]byte, error) {
		var out [][]byte
		for _, t := range list {
			a := w.call(as, "GET", prefix+"/tile/"+t.Path(), "")
			if a.status != 200 {
				return nil, fmt.Errorf("%s: %s", t.Path(), a)
			}
			out = append(out, a.body)
		}
		return out, nil
	}
}

func TestLogIsServedAsTiles(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	for range 5 {
		w.mint("ses_a", "read:context")
	}
	a := w.ok(live, "GET", w.logPath("/checkpoint"), "")
	if got := a.header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("the checkpoint is %s", got)
	}
	c, err := ledger.OpenCheckpoint(string(a.body), w.verifiers(live, w.logPath("/keys"))...)
	w.must(err)
	if c.Size != 5 || c.Origin != "hodl.example.com/log/"+string(w.ws)+"/live" {
		t.Errorf("checkpoint %+v", c)
	}
	tiles := w.tiles(live, w.logPath(""))
	bundle, err := tiles([]ledger.Tile{{Level: ledger.Entries, Width: 5}})
	w.must(err)
	entries, err := ledger.ParseBundle(bundle[0])
	w.must(err)
	for i, entry := range entries {
		proof, err := ledger.Prove(c, int64(i), tiles)
		w.must(err)
		r := ledger.Receipt{Index: int64(i), Proof: proof, Checkpoint: string(a.body)}
		if _, err := r.Verify(entry, w.verifiers(live, w.logPath("/keys"))...); err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
	}
	tile := w.ok(live, "GET", w.logPath("/tile/0/000.p/5"), "")
	if got := tile.header.Get("Cache-Control"); got != "private, max-age=31536000, immutable" || tile.header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("a tile is sent with %v", tile.header)
	}
	for _, path := range []string{"/tile/0/000", "/tile/0/000.p/6", "/tile/1/000.p/1", "/tile/0/0", "/tile/x", "/tile/entries/000.p/6", "/tile/0/000.p/5/", "/tile/-1/000"} {
		w.run([]scenario{{name: path, as: live, method: "GET", path: w.logPath(path), status: 404, code: "not_found"}})
	}
	sandboxed := w.ok(sandbox, "GET", w.logPath("/sandbox/checkpoint"), "")
	empty, err := ledger.OpenCheckpoint(string(sandboxed.body), w.verifiers(sandbox, w.logPath("/sandbox/keys"))...)
	w.must(err)
	if empty.Size != 0 {
		t.Errorf("the sandbox's log has %d entries", empty.Size)
	}
	w.keys["auditor"] = w.key(w.ws, w.user, hodl.Live, "log:read")
	w.keys["reader"] = w.key(w.ws, w.user, hodl.Live, "records:read")
	w.run([]scenario{
		{name: "log:read is enough", as: "auditor", method: "GET", path: w.logPath("/checkpoint"), status: 200},
		{name: "without log:read", as: "reader", method: "GET", path: w.logPath("/checkpoint"), status: 403, code: "insufficient_scope", has: []string{"log:read"}},
		{name: "live, with a sandbox key", as: sandbox, method: "GET", path: w.logPath("/checkpoint"), status: 404, code: "not_found"},
		{name: "live tiles, with a sandbox key", as: sandbox, method: "GET", path: w.logPath("/tile/0/000.p/5"), status: 404, code: "not_found"},
		{name: "a stranger", as: stranger, method: "GET", path: w.logPath("/checkpoint"), status: 404, code: "not_found"},
		{name: "a sandbox tile that is not there", as: sandbox, method: "GET", path: w.logPath("/sandbox/tile/0/000.p/1"), status: 404, code: "not_found"},
	})
}

// receiptOf opens a receipt of a header.
func receiptOf(t *testing.T, header string) *ledger.Receipt {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil || len(text) == 0 {
		t.Fatalf("no receipt: %q, %v", header, err)
	}
	r, err := ledger.ParseReceipt(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProofsOfRecords(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	w.hydrate(w.token("ses_a", "read:context"), "ses_a")
	id := w.records("hydrate")[0]["id"].(string)
	verifiers := w.verifiers(live, w.logPath("/keys"))
	got := w.ok(live, "GET", "/v1/access_records/"+id, "")
	body, err := canonical(got.body)
	w.must(err)
	proof := w.ok(live, "GET", "/v1/access_records/"+id+"/proof", "")
	inBody, err := ledger.ParseReceipt(string(proof.body))
	w.must(err)
	for name, r := range map[string]*ledger.Receipt{"header": receiptOf(t, got.header.Get("Hodl-Receipt")), "proof": inBody} {
		commitment := ledger.Commit([32]byte(r.Extra), body)
		if _, err := r.Verify(commitment[:], verifiers...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		other := ledger.Commit([32]byte(r.Extra), bytes.Replace(body, []byte("claude"), []byte("clause"), 1))
		if _, err := r.Verify(other[:], verifiers...); err == nil {
			t.Errorf("%s: proves another record", name)
		}
	}
}

// A resume token gets a receipt where the workspace allows it, and only there: it
// tells how many records there are.
func TestReceiptsOfTokens(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	token := w.token("ses_a", "read:context")
	a := w.hydrate(token, "ses_a")
	if a.status != 200 || a.header.Get("Hodl-Receipt") != "" || a.object()["receipt"] != nil {
		t.Errorf("a receipt nobody allowed: %s", a)
	}
	w.ok(live, "PATCH", "/v1/workspaces/"+string(w.ws), `{"token_receipts":true}`)
	for _, format := range []string{"json", "prompt-ready"} {
		a := w.call(token, "POST", "/v1/sessions/ses_a/hydrate?format="+format, "")
		r := receiptOf(t, a.header.Get("Hodl-Receipt"))
		c, err := ledger.OpenCheckpoint(r.Checkpoint, w.verifiers(live, w.logPath("/keys"))...)
		w.must(err)
		if r.Index != c.Size-1 || r.Extra != nil {
			t.Errorf("%s: entry %d of %d, with %d bytes of salt", format, r.Index, c.Size, len(r.Extra))
		}
		if format == "json" && a.text("receipt") != r.String() {
			t.Errorf("the body's receipt is %q, the header's %q", a.text("receipt"), r.String())
		}
		if format == "json" && !strings.HasSuffix(string(a.body), `"}`) {
			t.Errorf("the receipt is not the last member: %s", a.body)
		}
	}
}

func TestExportOfRecords(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	w.mint("ses_a", "read:context")
	w.ok(member, "PUT", "/v1/sessions/ses_b", `{"title":"b"}`)
	w.ok(member, "POST", "/v1/resume_tokens", `{"session_id":"ses_b","audience":"sdk.unihodl.app","scopes":["read:context"]}`)
	for query, want := range map[string]int{"": 1, "?user=all": 2} {
		a := w.ok(live, "GET", "/v1/access_records/export"+query, "")
		lines := bufio.NewScanner(bytes.NewReader(a.body))
		lines.Scan()
		var head struct {
			Checkpoint string
			Size       int64
		}
		w.must(json.Unmarshal(lines.Bytes(), &head))
		c, err := ledger.OpenCheckpoint(head.Checkpoint, w.verifiers(live, w.logPath("/keys"))...)
		w.must(err)
		tree, shown := &ledger.Frontier{}, 0
		for lines.Scan() {
			var line struct {
				Seq              int64
				Commitment, Salt []byte
				Record           json.RawMessage
			}
			w.must(json.Unmarshal(lines.Bytes(), &line))
			tree.Append(ledger.Leaf(line.Commitment), nil)
			if line.Record == nil {
				continue
			}
			shown++
			if commitment := ledger.Commit([32]byte(line.Salt), line.Record); !bytes.Equal(commitment[:], line.Commitment) {
				t.Errorf("record %d is not what its commitment binds", line.Seq)
			}
		}
		if tree.Root() != c.Root || tree.Size() != head.Size || shown != want {
			t.Errorf("%q: %d records shown of %d under %v; want %d", query, shown, tree.Size(), c, want)
		}
	}
	w.run([]scenario{{name: "others', for a member", as: member, method: "GET", path: "/v1/access_records/export?user=all", status: 403, code: "forbidden"}})
}

func TestServerLog(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	w.mint("ses_a", "read:context")
	_, err := w.Anchor(t.Context())
	w.must(err)
	a := w.ok(nobody, "GET", "/v1/log/checkpoint", "")
	c, err := ledger.OpenCheckpoint(string(a.body), w.verifiers(nobody, "/v1/log/keys")...)
	w.must(err)
	if c.Size != 1 || c.Origin != "hodl.example.com/log" {
		t.Errorf("checkpoint %+v", c)
	}
	bundle, err := w.tiles(nobody, "/v1/log")([]ledger.Tile{{Level: ledger.Entries, Width: 1}})
	w.must(err)
	entries, err := ledger.ParseBundle(bundle[0])
	w.must(err)
	var page struct {
		Key     []byte
		Anchors []struct {
			Index int64
			Size  int64
			Root  []byte
		}
		Next *int64 `json:"next_from"`
	}
	w.must(json.Unmarshal(w.ok(live, "GET", w.logPath("/anchors"), "").body, &page))
	if len(page.Anchors) != 1 || page.Next != nil {
		t.Fatalf("anchors: %+v", page)
	}
	head := ledger.Checkpoint{Origin: "hodl.example.com/log/" + string(w.ws) + "/live", Size: page.Anchors[0].Size, Root: ledger.Hash(page.Anchors[0].Root)}
	if got := ledger.NewAnchor(page.Key, 0, head).Entry(); !bytes.Equal(got, entries[0]) {
		t.Error("the entry is not that of the workspace's head")
	}
	w.run([]scenario{
		{name: "no such tile", as: nobody, method: "GET", path: "/v1/log/tile/0/001", status: 404, code: "not_found"},
		{name: "no tile at all", as: nobody, method: "GET", path: "/v1/log/tile/0/0", status: 404, code: "not_found"},
		{name: "a post", as: nobody, method: "POST", path: "/v1/log/checkpoint", status: 405, code: "method_not_allowed"},
	})
}

// canonical is a JSON text as RFC 8785 has it.
func canonical(body []byte) ([]byte, error) { return fingerprint.Canonical(jsontext.Value(body)) }

func TestErase(t *testing.T) {
	w := newWorld(t)
	w.ok(member, "PUT", "/v1/sessions/ses_b", fullSession)
	token := w.ok(member, "POST", "/v1/resume_tokens", `{"session_id":"ses_b","audience":"sdk.unihodl.app","scopes":["read:context"]}`).text("token")
	id := w.ok(member, "GET", "/v1/me", "").text("user_id")
	if a := w.hydrate(token, "ses_b"); a.status != 200 {
		t.Fatal(a)
	}
	path := "/v1/members/" + id
	w.run([]scenario{
		{name: "a member", as: live, method: "POST", path: path + "/erase", body: `{"dry_run":false}`, status: 409, code: "conflict", has: []string{"remove them first"}},
		{name: "by no admin", as: member, method: "POST", path: path + "/erase", body: `{}`, status: 403, code: "forbidden"},
		{name: "by a sandbox key", as: sandbox, method: "POST", path: path + "/erase", body: `{}`, status: 403, code: "forbidden"},
		{name: "by a stranger", as: stranger, method: "POST", path: path + "/erase", body: `{}`, status: 404, code: "not_found"},
		{name: "removed", as: live, method: "DELETE", path: path, status: 200},
		{name: "dry", as: live, method: "POST", path: path + "/erase", body: `{}`, status: 200, has: []string{`"dry_run":true`, `"sessions":1`, "backups"}},
		{name: "for good", as: live, method: "POST", path: path + "/erase", body: `{"dry_run":false,"reason":"asked for"}`, status: 200, has: []string{`"dry_run":false`, `"sessions":1`}},
		{name: "again", as: live, method: "POST", path: path + "/erase", body: `{"dry_run":false}`, status: 200, has: []string{`"sessions":0`, `"details":0`}},
	})
	if list, _ := w.ok(live, "GET", "/v1/access_records?kind=erased&user=all", "").object()["access_records"].([]any); len(list) != 1 {
		t.Errorf("%d records of the erasure", len(list))
	}
	export := w.ok(live, "GET", "/v1/access_records/export?user=all", "")
	report, err := audit.Export(bytes.NewReader(export.body), audit.Log{Tiles: w.tiles(live, w.logPath(""))}, w.verifiers(live, w.logPath("/keys"))...)
	w.must(err)
	if report.Erased != 2 || report.Size != report.Records+report.Erased {
		t.Errorf("the log after: %+v", report)
	}
}
