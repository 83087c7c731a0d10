package mcpserver_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// local is what every way to install starts on the person's own machine.
type local struct {
	Name, Type, Command string
	Args                []string
}

func (l local) check(t *testing.T, where string) {
	t.Helper()
	if l.Command != "hodl" || !slices.Equal(l.Args, []string{"mcp"}) {
		t.Errorf("%s starts %s %v", where, l.Command, l.Args)
	}
}

// Each line and link of the README has the form its client takes, and holds no key.
func TestInstallLines(t *testing.T) {
	readme := read(t, "README.md")
	for _, form := range []string{
		`claude mcp add --transport http hodl https://\S+/mcp --header "Authorization: Bearer \$HODL_API_KEY"`,
		`claude mcp add hodl --env HODL_API_KEY="\$HODL_API_KEY" -- hodl mcp`,
		`codex mcp add hodl --url https://\S+/mcp --bearer-token-env-var HODL_API_KEY`,
	} {
		if !regexp.MustCompile(form).MatchString(readme) {
			t.Errorf("the README has no line %s", form)
		}
	}
	added := regexp.MustCompile(`code --add-mcp '(.+?)'`).FindStringSubmatch(readme)
	var l local
	if added == nil || json.Unmarshal([]byte(added[1]), &l) != nil || l.Name != "hodl" {
		t.Errorf("code --add-mcp takes %v", added)
	}
	l.check(t, "code --add-mcp")
	for client, decode := range map[string]func(string) ([]byte, error){
		"https://insiders.vscode.dev/redirect/mcp/install?": func(s string) ([]byte, error) { return []byte(s), nil },
		"https://cursor.com/en/install-mcp?":                base64.StdEncoding.DecodeString,
	} {
		_, rest, _ := strings.Cut(readme, "("+client)
		query, _, _ := strings.Cut(rest, ")")
		q, err := url.ParseQuery(query)
		if err != nil || q.Get("name") != "hodl" {
			t.Errorf("%s: %q, %v", client, query, err)
			continue
		}
		config, err := decode(q.Get("config"))
		var l local
		if err != nil || json.Unmarshal(config, &l) != nil {
			t.Errorf("%s: the config is %s, %v", client, config, err)
		}
		l.check(t, client)
	}
	if key := regexp.MustCompile(`hodl_(live|test)_\w{20}`).FindString(readme); key != "" {
		t.Errorf("the README holds a key: %s", key)
	}
}

// The bundle asks for what it needs and knows the tools there are.
func TestBundleManifest(t *testing.T) {
	var m struct {
		Version string `json:"manifest_version"`
		Release string `json:"version"`
		Server  struct {
			Type   string
			Entry  string `json:"entry_point"`
			Config struct {
				Command string
				Args    []string
				Env     map[string]string
			} `json:"mcp_config"`
		}
		Tools []struct{ Name string }
		User  map[string]struct{ Sensitive, Required bool } `json:"user_config"`
	}
	if err := json.Unmarshal([]byte(read(t, "install", "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	c := m.Server.Config
	if m.Version != "0.3" || m.Server.Type != "binary" || c.Command != "${__dirname}/"+m.Server.Entry || !slices.Equal(c.Args, []string{"mcp"}) {
		t.Errorf("the bundle starts %+v", m.Server)
	}
	for variable, value := range c.Env {
		name := strings.TrimSuffix(strings.TrimPrefix(value, "${user_config."), "}")
		if u, asked := m.User[name]; !asked || !u.Required || u.Sensitive != (variable == "HODL_API_KEY") {
			t.Errorf("%s is %s, which is asked for as %+v", variable, value, u)
		}
	}
	var listed []struct{ Name string }
	if err := json.Unmarshal([]byte(read(t, "internal", "mcpserver", "testdata", "tools.json")), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed) != len(m.Tools) {
		t.Errorf("the bundle tells of %d tools, there are %d", len(m.Tools), len(listed))
	}
	for _, x := range listed {
		if !slices.ContainsFunc(m.Tools, func(y struct{ Name string }) bool { return x.Name == y.Name }) {
			t.Errorf("the bundle does not tell of %s", x.Name)
		}
	}
}

// The registry's entry is of the form its schema asks for: names and lengths by its
// rules, every variable in use explained, secrets marked.
func TestRegistryEntry(t *testing.T) {
	type variable struct {
		Description string
		IsSecret    bool
	}
	var e struct {
		Schema                            string `json:"$schema"`
		Name, Title, Description, Version string
		Remotes                           []struct {
			Type, URL string
			Variables map[string]variable
			Headers   []struct {
				Name, Value string
				IsSecret    bool
				Variables   map[string]variable
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t, "install", "server.json")), &e); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(e.Schema, "/2025-12-11/server.schema.json") || !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(e.Name) ||
		len(e.Description) > 100 || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(e.Version) || len(e.Remotes) != 1 {
		t.Errorf("the entry is %+v", e)
	}
	used := regexp.MustCompile(`\{(\w+)\}`)
	for _, r := range e.Remotes {
		if r.Type != "streamable-http" || !strings.HasSuffix(r.URL, "/mcp") {
			t.Errorf("the remote is %+v", r)
		}
		for _, name := range used.FindAllStringSubmatch(r.URL, -1) {
			if r.Variables[name[1]].Description == "" {
				t.Errorf("%s is not explained", name[0])
			}
		}
		for _, h := range r.Headers {
			for _, name := range used.FindAllStringSubmatch(h.Value, -1) {
				if v := h.Variables[name[1]]; v.Description == "" || !v.IsSecret || !h.IsSecret {
					t.Errorf("%s of %s is %+v", name[0], h.Name, v)
				}
			}
		}
	}
}
