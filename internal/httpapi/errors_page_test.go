package httpapi_test

import (
	"strconv"
	"strings"
	"testing"

	"hodl/docs"
	"hodl/internal/httpapi"
)

// TestErrorsPage wants every code explained, with the status it has, and an anchor
// where hints lead.
func TestErrorsPage(t *testing.T) {
	w := newWorld(t)
	page := string(w.call(nobody, "GET", "/docs/errors", "").body)
	for code, status := range httpapi.Statuses {
		if !strings.Contains(docs.Errors, "\n## "+string(code)+"\n\n"+strconv.Itoa(status)+". ") {
			t.Errorf("docs/errors.md does not say of %s that its status is %d", code, status)
		}
		if !strings.Contains(page, `<section id="`+string(code)+`">`) {
			t.Errorf("/docs/errors has no anchor %s", code)
		}
	}
	refused := w.call(live, "GET", "/v1/hodls/hdl_nobody", "").String()
	if !strings.Contains(refused, "see /docs/errors#not_found") {
		t.Errorf("the hint leads nowhere: %s", refused)
	}
}
