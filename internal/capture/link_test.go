package capture_test

import (
	"net/url"
	"strings"
	"testing"

	"hodl"
	"hodl/internal/capture"
)

func TestLink(t *testing.T) {
	place := hodl.Location{Repository: "github.com/a/b", File: "dir/a b&c.go", Line: 42, Column: 7, Branch: "fix/ü", Commit: "abc"}
	for name, tt := range map[string]struct {
		hodl hodl.Hodl
		want string
	}{
		"nothing":            {hodl.Hodl{ID: "hdl_1", Title: "x"}, ""},
		"an address":         {hodl.Hodl{URL: "https://example.com/?a=b"}, "https://example.com/?a=b"},
		"a repository alone": {hodl.Hodl{URL: "https://example.com", Location: &hodl.Location{Repository: "r"}}, "https://example.com"},
		"a file alone":       {hodl.Hodl{ID: "hdl_1", Location: &hodl.Location{File: "f"}}, "vscode://hodl.hodl/open?file=f&id=hdl_1"},
		"a place":            {hodl.Hodl{ID: "hdl_1", URL: "https://example.com", Location: &place}, "vscode://hodl.hodl/open?branch=fix%2F%C3%BC&column=7&commit=abc&file=dir%2Fa+b%26c.go&id=hdl_1&line=42&repository=github.com%2Fa%2Fb"},
	} {
		got := capture.Link(&tt.hodl)
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if u, err := url.Parse(got); err != nil || strings.HasPrefix(got, "vscode:") && u.Query().Get("file") != tt.hodl.Location.File {
			t.Errorf("%s: %s does not read back: %v", name, got, err)
		}
	}
}
