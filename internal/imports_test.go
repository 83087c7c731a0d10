package internal_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// What follows says who may import whom. A package is named by its path below
// the module, "." being the root; a name that ends in /... stands for what is
// below it as well. The standard library is free to all but where a row
// forbids some of it, and the root package is free to all. Tests may import
// what they like.
//
// A new package fails the test until it has a row here: choose the row with
// care, the longest name that fits counts.
var table = map[string]rule{
	// What the product is made of. It reaches nothing outside the program.
	".": {forbids: []string{"net/http", "database/sql", "os"}},

	// Each decides one thing from its arguments alone.
	"internal/dpop":        {may: pure},
	"internal/fingerprint": {may: pure},
	"internal/ledger":      {may: []string{"golang.org/x/mod/sumdb/..."}},
	"internal/address":     {may: pure},
	"internal/decode":      {may: pure},
	"internal/count":       {},
	"internal/bookmark":    {may: join(pure, "golang.org/x/net/html")},
	"internal/meter":       {may: pure},
	"internal/query":       {may: join(pure, "golang.org/x/text/...")},
	"internal/detect":      {},
	"internal/redact":      {may: join(pure, "internal/detect")},
	"internal/render":      {may: join(pure, "internal/redact", "internal/count")}, // its argument is a type that only redact makes
	"internal/seal":        {may: join(pure, "internal/file")},
	"internal/token":       {may: join(pure, "github.com/maypok86/otter/v2")},

	// The steps of a capture, a hydration, a delivery. Storage is theirs only
	// through interfaces of their own, in the store's types.
	"internal/capture": {may: join(pure, join(steps, "internal/bookmark")...)},
	"internal/resume":  {may: join(pure, join(steps, "internal/dpop", "github.com/maypok86/otter/v2")...)},
	"internal/policy":  {may: join(pure, steps...)},
	"internal/webhook": {may: join(pure, steps...)},

	// What the program shows without a network.
	"docs": {},

	// What the commands know of the machine they run on.
	"internal/checkout": {},
	"internal/file":     {may: []string{"golang.org/x/sys/..."}},
	"internal/audit":    {may: join(pure, "client", "internal/file", "internal/ledger")},
	"internal/witness":  {may: []string{"internal/file", "internal/ledger"}},
	"internal/queue":    {may: []string{"internal/file"}},

	// The way to the disk, and who comes in.
	"internal/store": {may: join(pure, "internal/ledger", "internal/seal", "internal/fingerprint", "internal/query", "internal/address",
		"github.com/jackc/pgx/v5/...", "modernc.org/sqlite/...", "golang.org/x/sync/...", "golang.org/x/sys/...")},
	"internal/auth/...": {may: pure},
	"internal/signing":  {may: join(pure, "internal/store", "internal/token", "internal/ledger")},
	"internal/backup":   {may: join(pure, "internal/file", "internal/store", "internal/seal")},
	"internal/doctor":   {may: []string{"internal/store", "internal/ledger", "internal/seal", "internal/token", "golang.org/x/sys/..."}},

	// The ways in. Each has its own framework and nobody else's.
	"internal/httpapi":   {may: join(pure, join(doors, "docs", "internal/meter", "internal/signing", "github.com/danielgtaylor/huma/v2/...", "github.com/VictoriaMetrics/metrics")...)},
	"internal/mcpserver": {may: join(pure, join(doors, "internal/meter", "github.com/modelcontextprotocol/go-sdk/...")...)},
	"internal/web":       {may: join(pure, doors...)},

	// Where the parts meet.
	"internal/serve": {may: []string{"internal/...", anyModule}},
	"cmd/hodl":       {may: []string{"internal/serve", "client", "docs", "receipt", "internal/audit", "internal/ledger", "internal/witness", "internal/backup", "internal/bookmark", "internal/checkout", "internal/decode", "internal/doctor", "internal/file", "internal/httpapi", "internal/mcpserver", "internal/queue", "internal/redact", "internal/detect", "go.yaml.in/yaml/v3", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys/..."}},

	// For other people's programs.
	"client":   {},
	"receipt":  {may: join(pure, "internal/ledger")},
	"hodltest": {forTests: true, may: []string{"internal/serve", "internal/store", "client", "internal/pgtest"}},

	// For tests only, whatever the rows above say.
	"internal/redact/score":      {forTests: true, may: []string{"internal/detect"}},
	"internal/bench":             {forTests: true, may: []string{"internal/...", anyModule}},
	"internal/pgtest":            {forTests: true, may: []string{"github.com/jackc/pgx/v5"}},
	"internal/store/storetest":   {forTests: true, may: []string{"internal/...", anyModule}},
	"internal/mcpserver/interop": {forTests: true, may: []string{"internal/...", "client", anyModule}},
	"internal/mcpserver/bundle":  {forTests: true},
	"internal/token/tokentest":   {forTests: true, may: []string{"internal/token"}},
	"internal/ledger/ledgertest": {forTests: true, may: []string{"internal/ledger"}},
}

var (
	// pure is what any package may use for data in memory.
	pure = []string{"github.com/go-json-experiment/json/..."}
	// steps is what the packages that carry out a request are put together from.
	steps = []string{"internal/store", "internal/ledger", "internal/fingerprint", "internal/meter", "internal/redact", "internal/render", "internal/token"}
	// doors is what the packages that take in a request may call.
	doors = []string{"internal/store", "internal/ledger", "internal/query", "internal/address", "internal/decode", "internal/auth/...", "internal/capture", "internal/dpop", "internal/policy", "internal/render", "internal/resume"}
)

// anyModule, in a row, lets every module that is not ours in.
const anyModule = "*"

// A rule is one row of the table.
type rule struct {
	// may lists packages of ours and of other modules.
	may []string
	// forbids lists packages of the standard library, with what is below them.
	forbids []string
	// forTests keeps the package out of all that is not for tests itself.
	forTests bool
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue // nothing but tests
		}
		rule, ok := ruleFor(p.name())
		if !ok {
			t.Errorf("%s is not in the table: give it a row", p.name())
			continue
		}
		for _, imported := range p.Imports {
			if !rule.allows(imported) {
				t.Errorf("%s may not import %s", p.name(), name(imported))
			}
		}
	}
}

// TestImportRules holds the reading of the table itself to examples.
func TestImportRules(t *testing.T) {
	for _, c := range []struct {
		importer, imported string
		want               bool
	}{
		{".", "time", true},
		{".", "net/http", false},
		{".", "net/http/httptest", false},
		{".", "net/url", true},
		{".", "os/signal", false},
		{"client", "hodl", true},
		{"client", "net/http", true},
		{"client", "hodl/internal/token", false},
		{"internal/redact", "github.com/go-json-experiment/json/jsontext", true},
		{"internal/redact", "github.com/jackc/pgx/v5", false},
		{"internal/resume", "hodl/internal/store", true},
		{"internal/render", "hodl/internal/store", false},
		{"internal/store", "github.com/jackc/pgx/v5/pgxpool", true},
		{"internal/store", "hodl/internal/pgtest", false},
		{"internal/auth/saml", "hodl/internal/store", false},
		{"internal/serve", "hodl/internal/store", true},
		{"internal/serve", "hodl/client", false},
		{"internal/serve", "hodl/internal/pgtest", false},
		{"internal/store/storetest", "hodl/internal/pgtest", true},
		{"internal/serve", "github.com/danielgtaylor/huma/v2", true},
		{"internal/httpapi", "hodl/internal/serve", false},
		{"cmd/hodl", "hodl/internal/serve", true},
		{"cmd/hodl", "hodl/internal/store", false},
	} {
		rule, ok := ruleFor(c.importer)
		if got := ok && rule.allows(c.imported); got != c.want {
			t.Errorf("%s imports %s: allowed %t, want %t", c.importer, c.imported, got, c.want)
		}
	}
}

// ruleFor finds the row with the longest name that covers a package.
func ruleFor(importer string) (rule, bool) {
	var row string
	for pattern := range table {
		if covers(pattern, importer) && len(pattern) > len(row) {
			row = pattern
		}
	}
	return table[row], row != ""
}

func (r rule) allows(importPath string) bool {
	if !ours(importPath) && !strings.Contains(firstElement(importPath), ".") {
		return !slices.ContainsFunc(r.forbids, func(forbidden string) bool {
			return covers(forbidden+"/...", importPath)
		})
	}
	imported := name(importPath)
	if row, _ := ruleFor(imported); row.forTests && !r.forTests {
		return false
	}
	return imported == "." || slices.ContainsFunc(r.may, func(pattern string) bool {
		return covers(pattern, imported) || pattern == anyModule && !ours(importPath)
	})
}

func covers(pattern, name string) bool {
	tree, isTree := strings.CutSuffix(pattern, "/...")
	return name == tree || isTree && strings.HasPrefix(name, tree+"/")
}

const module = "hodl"

func ours(importPath string) bool { return firstElement(importPath) == module }

func firstElement(importPath string) string {
	first, _, _ := strings.Cut(importPath, "/")
	return first
}

// name turns an import path into a name of the table.
func name(importPath string) string {
	if !ours(importPath) {
		return importPath
	}
	return path.Clean("./" + strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/"))
}

func join(list []string, more ...string) []string { return slices.Concat(list, more) }

// A listed package is what go list tells of one. Imports leaves out those of
// its tests.
type listed struct {
	ImportPath string
	GoFiles    []string
	Imports    []string
}

func (p listed) name() string { return name(p.ImportPath) }

// packages lists all of the module's packages. With -e one that does not
// compile is listed too: that is for the compiler to report.
func packages(t *testing.T) []listed {
	t.Helper()
	list := exec.Command("go", "list", "-e", "-json=ImportPath,GoFiles,Imports", module+"/...")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}
