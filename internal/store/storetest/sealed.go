package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"hodl"
)

// dump returns every value of every row of every table, as bytes.
func (w *world) dump(t *testing.T) []byte {
	t.Helper()
	tables := `select name from sqlite_master where type = 'table'`
	if w.Engine() == "postgres" {
		tables = `select table_name from information_schema.tables where table_schema = 'public'`
	}
	var out bytes.Buffer
	for _, name := range column(t, w.raw(t), tables) {
		w.dumpTable(t, name, &out)
	}
	return out.Bytes()
}

func column(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var s string
		must(t, rows.Scan(&s))
		out = append(out, s)
	}
	must(t, rows.Err())
	return out
}

func (w *world) dumpTable(t *testing.T, name string, out *bytes.Buffer) {
	t.Helper()
	rows, err := w.raw(t).QueryContext(t.Context(), `select * from `+name)
	must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		values, places := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		must(t, rows.Scan(places...))
		for _, v := range values {
			if b, ok := v.([]byte); ok {
				out.Write(b)
			} else {
				fmt.Fprint(out, v)
			}
			out.WriteByte('\n')
		}
	}
	must(t, rows.Err())
}

func testSealed(t *testing.T, w *world) {
	const word = "canary7f3a9"
	s := w.session(t, word)
	must(t, w.hydrate(t.Context(), w.Store, w.mint(t, s.ID, 1)))
	h := w.newHodl(s.ID)
	h.Location.Selection.Text = "selection " + word
	h.Title, h.Note = "visible-title", "visible-note"
	next := w.version(t, s.ID, word+" again", s.Fingerprint, hodl.OpUpdate)
	next.Body.Content.Hodls = []hodl.Hodl{h}
	must(t, w.PutSession(t.Context(), next))
	w.putHodl(t, h)

	rows := w.dump(t)
	for _, clear := range []string{string(s.ID), "visible-title", "visible-note"} {
		if !bytes.Contains(rows, []byte(clear)) {
			t.Errorf("the dump does not show %q: it is no dump", clear)
		}
	}
	sealed := func(what string, data []byte) {
		if i := bytes.Index(data, []byte(word)); i >= 0 {
			t.Errorf("%s shows content: %q", what, data[max(0, i-40):min(len(data), i+40)])
		}
	}
	sealed("a row", rows)
	if w.db.Files == nil {
		return
	}
	for _, closed := range []bool{false, true} {
		if closed {
			must(t, w.Close()) // folds the log into the database file
		}
		for _, file := range w.db.Files() {
			data, err := os.ReadFile(file)
			must(t, err)
			sealed(file[strings.LastIndexByte(file, '/')+1:], data)
		}
	}
}

func testCanceled(t *testing.T, w *world) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 5)
	refused(t, "hydrate for nobody", w.hydrate(gone, w.Store, k), hodl.Internal)
	refused(t, "rare write for nobody", w.SetPlan(gone, w.ws, hodl.Scale), hodl.Internal)
	must(t, w.hydrate(t.Context(), w.Store, k))
	equal(t, "records: a mint and a hydration", w.checkLog(t, w.ws, hodl.Live), 2)

	// A caller that leaves half-way spoils nothing for those that follow.
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		_ = w.SetPlan(ctx, w.ws, hodl.Scale)
		_ = w.hydrate(ctx, w.Store, k)
	}
	must(t, w.SetPlan(t.Context(), w.ws, hodl.Enterprise))
	must(t, w.Append(t.Context(), w.record(hodl.KindDenied, s.ID, ""), detail))
	w.checkLog(t, w.ws, hodl.Live)
}
