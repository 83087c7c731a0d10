package mcpserver_test

import (
	"encoding/json"
	"testing"

	"hodl"
	"hodl/internal/ledger"
	"hodl/internal/store"
	"hodl/receipt"
)

// handed is the _meta of whatever hands a session over.
func (w *world) handed(credential, method, params string) map[string]string {
	w.t.Helper()
	a := w.rpc(credential, method, params)
	var r struct {
		Meta     map[string]string `json:"_meta"`
		Contents []struct {
			Meta map[string]string `json:"_meta"`
		}
	}
	_ = json.Unmarshal(a.Result, &r) // other members of _meta are no strings
	if len(r.Contents) > 0 {
		return r.Contents[0].Meta
	}
	return r.Meta
}

// A key gets a receipt with every hydration, for the program and not for the model; a
// resume token gets one where the workspace allows it, and without the salt.
func TestReceipts(t *testing.T) {
	w := newWorld(t)
	origin := store.LogOrigin(w.logs.Origin(), w.ada.Workspace, hodl.Live)
	vkey := w.logs.Verifiers(origin)[0].Key
	bearer := w.mint(hodl.ReadContext, hodl.ReadReasoning)
	calls := map[string][2]string{
		"tool":      {"tools/call", `{"name":"resume","arguments":{"session_id":"ses_1"}}`},
		"rendering": {"resources/read", `{"uri":"hodl://sessions/ses_1?format=prompt-ready"}`},
	}
	for name, call := range calls {
		meta := w.handed(w.ada.key, call[0], call[1])
		newest := w.records(w.ada)[0]
		record, err := json.Marshal(newest)
		w.must(err)
		proven, err := receipt.Verify(meta["hodl/receipt"], record, vkey)
		if err != nil || proven.Index != newest.Seq || meta["hodl/hydration_id"] != string(newest.ID) {
			t.Errorf("%s by a key: %+v, %v", name, proven, err)
		}
		if meta := w.handed(bearer.Signed, call[0], call[1]); meta["hodl/hydration_id"] == "" || meta["hodl/receipt"] != "" {
			t.Errorf("%s by a token got a receipt that nobody allowed: %v", name, meta)
		}
	}
	_, err := w.ChangeWorkspace(t.Context(), w.ada.Workspace, func(x *hodl.Workspace) error { x.Receipts = true; return nil })
	w.must(err)
	verifier, err := ledger.ParseVerifier(vkey)
	w.must(err)
	for name, call := range calls {
		r, err := ledger.ParseReceipt(w.handed(bearer.Signed, call[0], call[1])["hodl/receipt"])
		if err != nil {
			t.Errorf("%s by a token that may: %v", name, err)
			continue
		}
		if c, err := ledger.OpenCheckpoint(r.Checkpoint, verifier); err != nil || r.Extra != nil || r.Index != c.Size-1 {
			t.Errorf("%s by a token that may: entry %d, %d bytes of salt, %v", name, r.Index, len(r.Extra), err)
		}
	}
}
