package redact_test

import (
	"strings"
	"testing"

	"hodl"
	"hodl/internal/redact"
)

// A long text is looked through again only round its placeholders. What the second
// look finds there, and what lies far from any, is as in a short one.
func TestLongTextIsLookedThroughAgain(t *testing.T) {
	p, _ := redact.Lookup("balanced")
	hidden := "x8Kq2LmZ4vRt" + "7WnYbC3dEfGh"
	part := `password="` + hidden + `" ` + strings.Repeat("plain words and no more of them. ", 400) + "tö"
	body := strings.Repeat(part, 5)
	r, err := p.Apply(session(), hodl.Content{Notes: []hodl.Note{{ID: 1, Body: body}}})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Content().Notes[0].Body
	if want := strings.ReplaceAll(body, hidden, "[PASSWORD_1]"); got != want {
		t.Fatalf("got %d bytes, want %d", len(got), len(want))
	}
	again, err := p.Apply(session(), hodl.Content{Notes: []hodl.Note{{ID: 1, Body: got}}})
	if err != nil {
		t.Fatal(err)
	}
	if again.Content().Notes[0].Body != got {
		t.Error("redacting it again changes it")
	}
}
