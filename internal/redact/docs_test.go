package redact_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"hodl/internal/detect"
)

var update = flag.Bool("update", false, "rewrite the table of rules in docs/redaction.md")

func TestGoldenRules(t *testing.T) {
	const path, start, end = "../../docs/redaction.md", "<!-- rules -->\n", "<!-- end of rules -->\n"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(raw), start)
	table, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no place for the rules", path)
	}
	want := rulesTable()
	if table == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not list the rules there are; go test ./internal/redact -run Golden -update rewrites it", path)
	}
	if err := os.WriteFile(path, []byte(before+start+want+end+after), 0o644); err != nil { //nolint:gosec // it is a document
		t.Fatal(err)
	}
}

func rulesTable() string {
	var b strings.Builder
	b.WriteString("| rule | type | placeholder | removes | source of the form |\n|---|---|---|---|---|\n")
	for _, r := range detect.Rules() {
		fmt.Fprintf(&b, "| `%s` | `%s` | `[%s_1]` | %s | %s |\n", r.ID, r.Type, r.Label, r.Reason, r.Source)
	}
	return b.String()
}

// What stands in a list of removals is a closed vocabulary: each rule has an id of
// its own and says why.
func TestRulesAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range detect.Rules() {
		if seen[r.ID] {
			t.Errorf("two rules are called %s", r.ID)
		}
		seen[r.ID] = true
		if r.Type == "" || r.Label == "" || r.Reason == "" || r.Source == "" || strings.ToUpper(r.Label) != r.Label {
			t.Errorf("the rule %+v is not whole", *r)
		}
	}
}
