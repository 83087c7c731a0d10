package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/detect"
	"hodl/internal/redact"
)

// canaries are values of many types, each in a text that tells what it is. The
// values are joined from parts, or scanners would find them here.
var canaries = []struct{ before, value, after string }{
	{"token ", "ghp" + "_x8Kq2LmZ4vRt7WnYbC3dEfGhJ5sPaQ1uT9iO", " used"},
	{`password = "`, "Tr0ub4dor&3xyz", `"`},
	{`"client_secret": "`, "q8Zr5TnW2kLp9XvB4mJd", `"`},
	{"aws ", "AKIA" + "QX7ZN4TMRB2KD5WP", " key"},
	{"mail ", "quentin.zyx@example.org", " about it"},
	{"call ", "+49 30 901820448", " now"},
	{"card ", "4012 8888 8888 1881", " declined"},
	{"account ", "DE89 3704 0044 0532 0130 00", " holds"},
	{"from ", "203.0.113.77", " today"},
	{"ssn ", "536-90-4399", " filed"},
	{"db ", "postgres://svc:W9hTq2Lx7Vb4@db.example.com/app", " up"},
}

// secretOf returns what of a canary must not survive: of an address, its password.
func secretOf(value string) string {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		p, _ := u.User.Password()
		return p
	}
	return value
}

func everywhere(text string) hodl.Content {
	return hodl.Content{
		Title: text, Summary: text,
		Tabs: []hodl.Tab{
			{URL: "https://example.com/search?q=" + url.QueryEscape(text) + "&lang=en", Title: text, SelectedText: text},
			{URL: "https://example.com/", Title: "JSON", SelectedText: inJSON(text)},
		},
		Media:      []hodl.Medium{{Kind: "video", URL: "https://example.com/v", Transcript: text}},
		Thread:     []hodl.Node{{ID: "n1", Kind: hodl.Observation, Text: text, Evidence: []string{text}}},
		Tags:       []string{text},
		Notes:      []hodl.Note{{ID: 1, Body: text}, {ID: 2, Body: base64.StdEncoding.EncodeToString([]byte(text))}},
		Hodls:      []hodl.Hodl{{ID: "hdl_1", Title: text, Note: text, Location: &hodl.Location{File: "a.go", Selection: &hodl.Selection{Text: text}}}},
		Provenance: map[string]hodl.Provenance{},
	}
}

func inJSON(text string) string {
	b, _ := json.Marshal(map[string]string{"text": text})
	return string(b)
}

func texts(t *testing.T, c hodl.Content) string {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNoCanarySurvives(t *testing.T) {
	for _, name := range []string{"balanced", "default-strict", "gdpr-eu"} {
		for _, x := range canaries {
			r := applied(t, preset(t, name), everywhere(x.before+x.value+x.after))
			out := texts(t, r.Content())
			v := secretOf(x.value)
			for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v), strings.Trim(inJSON(v), `{}`)[8:], base64.RawStdEncoding.EncodeToString([]byte(v))[:8]} {
				if strings.Contains(out, strings.Trim(form, `"`)) {
					t.Errorf("%s: %q is still there: %s", name, form, out)
				}
			}
			checkManifest(t, r, v)
		}
	}
}

// checkManifest holds the list of removals against the value: outside of the words
// we use ourselves it shares no four bytes with it.
func checkManifest(t *testing.T, r redact.Redacted, v string) {
	t.Helper()
	for _, x := range r.Redactions() {
		said := strings.Join([]string{x.Field, x.Placeholder}, " ")
		for i := 0; i+4 <= len(v); i++ {
			if strings.Contains(said, v[i:i+4]) {
				t.Errorf("the list of removals says %q of %q", said, v)
			}
		}
	}
}

// What is told apart by nothing is found because it was found elsewhere.
func TestPropagation(t *testing.T) {
	secret := "Tr0ub4dor&3xyz"
	c := hodl.Content{
		Tabs: []hodl.Tab{
			{URL: "https://example.com/a", Title: "A", SelectedText: `password = "` + secret + `"`},
			{URL: "https://example.com/b?x=" + url.QueryEscape(secret), Title: "said " + secret + " aloud"},
		},
		Notes: []hodl.Note{{Body: base64.StdEncoding.EncodeToString([]byte("ab" + secret + "cd"))}},
	}
	out := texts(t, applied(t, preset(t, "balanced"), c).Content())
	for _, form := range []string{secret, url.QueryEscape(secret), "dWI0ZG9y"} {
		if strings.Contains(out, form) {
			t.Errorf("%q is still there: %s", form, out)
		}
	}
}

// A number of a document has its key for a label, and what stands for it is a string.
func TestDocuments(t *testing.T) {
	for text, want := range map[string]string{
		`{"card": 4012888888881881, "n": [1, 4012888888881881]}`:                `{"card": "[CARD_1]", "n": [1, "[CARD_1]"]}`,
		`{"password": 73915528, "timeout": 30000}`:                              `{"password": "[PASSWORD_1]", "timeout": 30000}`,
		`{"a": "x,4012888888881881,y", "b": -4012888888881881.5}`:               `{"a": "x,[CARD_1],y", "b": "[CARD_1]"}`,
		`{"Apitoken": "{q8Zr5TnW2kLp9XvB4mJd}", "template": "{customer}"}`:      `{"Apitoken": "[TOKEN_1]", "template": "{customer}"}`,
		`{"passphrase": "tundra velvet orbit canyon", "title": "velvet orbit"}`: `{"passphrase": "[PASSWORD_1]", "title": "velvet orbit"}`,
		`{"password": "choose another password please", "token": "a b c d"}`:    `{"password": "choose another password please", "token": "a b c d"}`,
	} {
		if got, _, err := preset(t, "balanced").Text(text, detect.Text); err != nil || got != want {
			t.Errorf("%s became %s (%v), want %s", text, got, err, want)
		}
	}
}

// An & is a letter of a password, unless the next parameter or command begins there.
func TestAmpersands(t *testing.T) {
	password := "Tr0ub4dor" + "3xyz"
	for before, after := range map[string]string{
		"password=%&3q next": "password=[PASSWORD_1] next", "user=jo&password=%&lang=en": "user=jo&password=[PASSWORD_1]&lang=en",
		"password=%&&ls": "password=[PASSWORD_1]&&ls", "password=%& ls": "password=[PASSWORD_1]& ls", "password=%&amp;lang=en": "password=[PASSWORD_1]&amp;lang=en",
		"https://example.com/?password=%&plain": "https://example.com/?password=__PASSWORD_1__&plain",
	} {
		if got, _, err := preset(t, "balanced").Text(strings.Replace(before, "%", password, 1), detect.Text); err != nil || got != after {
			t.Errorf("%s became %s (%v), want %s", before, got, err, after)
		}
	}
}

func TestDisguises(t *testing.T) {
	for name, text := range map[string]string{
		"zero width":  "mail quentin\u200b.zyx@exam\u200dple.org now",
		"full width":  "mail ｑｕｅｎｔｉｎ．ｚｙｘ＠ｅｘａｍｐｌｅ．ｏｒｇ now",
		"escaped":     `mail quentin.zyx\u0040example.org now`,
		"bad byte":    "bad \xff byte, mail quentin.zyx@example.org now",
		"JSON inside": `{"a":"{\"password\":\"Tr0ub4dor&3xyz\"}"}`,
		"base64":      base64.StdEncoding.EncodeToString([]byte(`{"password":"Tr0ub4dor&3xyz"}`)),
	} {
		r := applied(t, preset(t, "balanced"), hodl.Content{Title: text})
		if len(r.Redactions()) == 0 {
			t.Errorf("%s: %q passed", name, text)
		}
	}
}

func TestAddressesKeepTheirShape(t *testing.T) {
	for _, address := range []string{
		"https://jo:s3cretPw9@example.com/a/b?token=rUmDFcW8FIRIWsM_PrT_yFSKKGGg&x=1#access_token=AAbb11CCdd22EEff33",
		"https://example.com/verify-email/mZl3kNUkUw-8D-rBOOUnPHp7vmw56wVV415blMpOUr9?next=/",
		"https://hooks.example.com/services/T0ABCDEF1/B0ABCDEF2/q8Zr5TnW2kLp9XvB4mJdW1sE",
		"mailto:quentin.zyx@example.org",
	} {
		r := applied(t, preset(t, "balanced"), hodl.Content{Tabs: []hodl.Tab{{URL: address, Title: "x"}}})
		got := r.Content().Tabs[0].URL
		before, _ := url.Parse(address)
		after, err := url.Parse(got)
		if err != nil || after.Host != before.Host || strings.Count(after.Path, "/") != strings.Count(before.Path, "/") || got == address {
			t.Errorf("%s became %s (%v)", address, got, err)
		}
	}
}

func TestLayersRemoveWhatEitherRemoves(t *testing.T) {
	keepMail := hodl.PolicyDocument{Extends: "balanced", Classes: map[string]hodl.Action{"pii.email": hodl.Keep}}
	keepSecrets := hodl.PolicyDocument{Extends: "balanced", Classes: map[string]hodl.Action{"secret": hodl.Keep}}
	p, err := redact.Compile("both", 1, keepMail, keepSecrets)
	if err != nil {
		t.Fatal(err)
	}
	c := planted()
	if out := texts(t, applied(t, p, c).Content()); strings.Contains(out, "jane.roe") || strings.Contains(out, "hunter2") {
		t.Errorf("kept by one, removed by the other: %s", out)
	}
	one, err := redact.Compile("one", 1, keepMail)
	if err != nil {
		t.Fatal(err)
	}
	if out := texts(t, applied(t, one, c).Content()); !strings.Contains(out, "jane.roe@example.org") || strings.Contains(out, "hunter2") {
		t.Errorf("a type kept: %s", out)
	}
}

// Without a rule its own finds stay, and nothing else changes.
func TestRemovingARule(t *testing.T) {
	p, err := redact.Compile("no email", 1, hodl.PolicyDocument{Extends: "balanced", Rules: map[string]hodl.Action{"person.email": hodl.Keep}})
	if err != nil {
		t.Fatal(err)
	}
	others := func(r redact.Redacted) []hodl.Redaction {
		return slices.DeleteFunc(slices.Clone(r.Redactions()), func(x hodl.Redaction) bool { return x.Rule == "person.email" })
	}
	c := planted()
	if diff := cmp.Diff(others(applied(t, preset(t, "balanced"), c)), others(applied(t, p, c))); diff != "" {
		t.Error(diff)
	}
}

func FuzzApply(f *testing.F) {
	for _, x := range canaries {
		f.Add(x.before + x.value + x.after)
		f.Add(inJSON(x.before + x.value + x.after))
	}
	f.Add(`{"card":4012888888881881,"a":["x,4012888888881881,\"y",-4012888888881881]}`)
	f.Add(strings.Repeat(`password="`, 50))
	f.Add("\xff\xfe password=\xffabc123xyz [EMAIL_1] __TOKEN_2__")
	p, _ := redact.Lookup("balanced")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 16<<10 {
			return
		}
		once := applied(t, p, hodl.Content{Title: text, Notes: []hodl.Note{{Body: text}}}).Content()
		twice := applied(t, p, once).Content()
		if once.Title != twice.Title || once.Notes[0].Body != twice.Notes[0].Body {
			t.Errorf("%q became %q, and that %q", text, once.Title, twice.Title)
		}
		if utf8.ValidString(text) && !utf8.ValidString(once.Title) {
			t.Errorf("%q became invalid: %q", text, once.Title)
		}
		cleaned, _, err := p.Text(text, detect.Text)
		if err != nil {
			t.Fatal(err)
		}
		if detect.IsDocument(text) && !json.Valid([]byte(cleaned)) {
			t.Errorf("JSON %q became %q", text, cleaned)
		}
	})
}
