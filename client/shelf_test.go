package client_test

import (
	"bytes"
	"strings"
	"testing"

	"hodl"
	"hodl/client"
	"hodl/hodltest"
)

func TestShelf(t *testing.T) {
	ctx, c := t.Context(), hodltest.Start(t).Client()
	results := must[[]client.HodlResult](t)(c.CaptureHodls(ctx, []hodl.HodlDraft{
		{URL: "https://example.com/a", Title: "cache bug", Tags: []string{"go"}}, {}, {Note: "a thought", Tags: []string{"go", "x"}},
	}))
	if len(results) != 3 || results[0].Err() != nil || results[2].Status != 201 || results[0].Hodl.Title != "cache bug" {
		t.Fatalf("the batch came to %+v", results)
	}
	wantCode(t, results[1].Err(), hodl.ValidationFailed)
	first := results[0].Hodl

	page := must[*client.HodlPage](t)(c.SearchHodls(ctx, client.HodlQuery{Q: "tag:go -thought", Source: "rest", Page: client.Page{Limit: 5}}))
	if len(page.Hodls) != 1 || page.Hodls[0].ID != first.ID {
		t.Errorf("found %+v", page)
	}
	_, err := c.SearchHodls(ctx, client.HodlQuery{Q: `"open`})
	wantCode(t, err, hodl.ValidationFailed)
	if tags := must[*client.TagPage](t)(c.Tags(ctx, "g", client.Page{})); len(tags.Tags) != 1 || tags.Tags[0] != (client.Tag{Tag: "go", Hodls: 2}) {
		t.Errorf("tags %+v", tags)
	}
	if known := must[*client.Known](t)(c.CheckHodl(ctx, "http://www.example.com/a/")); !known.Known || known.Hodls[0].ID != first.ID {
		t.Errorf("known %+v", known)
	}
	if got := must[*client.Resumed](t)(c.ResumeHodl(ctx, first.ID, client.Opening{Editor: "zed"})); got.DeepLink != first.URL {
		t.Errorf("resumed %+v", got)
	}

	title := "new"
	changed := must[*hodl.Hodl](t)(c.ChangeHodl(ctx, first.ID, hodl.HodlChange{Title: &title}, client.IfMatch(first.Revision())))
	_, err = c.ChangeHodl(ctx, first.ID, hodl.HodlChange{Title: &title}, client.IfMatch(first.Revision()))
	wantCode(t, err, hodl.Stale)
	if err := c.DeleteHodl(ctx, first.ID, client.IfMatch(changed.Revision())); err != nil {
		t.Error(err)
	}
	if back := must[*hodl.Hodl](t)(c.RestoreHodl(ctx, first.ID)); back.Title != "new" {
		t.Errorf("restored %+v", back)
	}
}

func TestTransfer(t *testing.T) {
	ctx, from, to := t.Context(), hodltest.Start(t).Client(), hodltest.Start(t).Client()
	var drafts []hodl.HodlDraft
	for range 150 {
		drafts = append(drafts, hodl.HodlDraft{Title: "x", Tags: []string{"t"}})
	}
	must[[]client.HodlResult](t)(from.CaptureHodls(ctx, drafts))
	var file, again bytes.Buffer
	if err := from.ExportHodls(ctx, &file); err != nil {
		t.Fatal(err)
	}
	for _, want := range []client.Imported{{Imported: 150}, {Skipped: 150}} {
		got := must[*client.Imported](t)(to.ImportHodls(ctx, bytes.NewReader(file.Bytes()), client.Export))
		if got.Imported != want.Imported || got.Skipped != want.Skipped || got.Failed != 0 {
			t.Errorf("imported %+v, want %+v", got, want)
		}
	}
	if err := to.ExportHodls(ctx, &again); err != nil || again.String() != file.String() {
		t.Errorf("the round trip made %d bytes of %d: %v", again.Len(), file.Len(), err)
	}
	got := must[*client.Imported](t)(to.ImportHodls(ctx, strings.NewReader(`<DL><DT><A HREF="https://a.b">A</A><DT><A HREF="bad">B</A></DL>`), client.Bookmarks))
	if got.Imported != 1 || got.Failed != 1 || got.Errors[0].Line != 1 {
		t.Errorf("bookmarks: %+v", got)
	}
	_, err := to.ImportHodls(ctx, strings.NewReader("x"), "text/csv")
	wantCode(t, err, hodl.UnsupportedMedia)
}
