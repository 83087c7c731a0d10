package hodl

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
)

// A PolicyDocument says what is removed from a session before an agent gets it.
// It extends a preset and states only what differs from it. What it says of a rule
// goes before what it says of a type, that before what it says of a class, and all
// of them before what the preset says.
//
// The zero document is the preset [DefaultPolicy].
type PolicyDocument struct {
	Extends      string            `json:"extends,omitempty" enum:"default-strict,balanced,secrets-only,pci,gdpr-eu,off" doc:"The preset it starts from; default-strict when absent"`
	Classes      map[string]Action `json:"classes,omitempty" doc:"What to do with a class (secret, pii, custom) or a type of it (pii.email)"`
	Rules        map[string]Action `json:"rules,omitempty" doc:"What to do with what a rule finds, by the rule's id"`
	Fields       []FieldRule       `json:"fields,omitempty" doc:"Fields dropped or passed unread; the first that fits counts"`
	Hosts        []HostRule        `json:"hosts,omitempty" doc:"Pages dropped by their host; the first that fits counts"`
	Paths        []PathRule        `json:"paths,omitempty" doc:"Places dropped by the file's path; the first that fits counts"`
	URLs         *URLRule          `json:"urls,omitempty" doc:"How much of an address is removed"`
	Allow        []Allowance       `json:"allow,omitempty" doc:"Values that are never removed"`
	Dictionaries []Dictionary      `json:"dictionaries,omitempty" doc:"Words that are always removed"`
	Patterns     []Pattern         `json:"patterns,omitempty" doc:"Regular expressions whose matches are removed"`
	ReadRedacted bool              `json:"read_redacted,omitzero" doc:"Whether a token with the scope read:redacted, which an admin alone mints, may read what this policy removes; secrets never"`
	FieldBytes   int               `json:"field_bytes,omitzero" minimum:"1024" doc:"The longest field that is looked through, in bytes; 1 MiB when absent"`
	OnFault      Fault             `json:"on_fault,omitempty" enum:"refuse,drop" doc:"What happens to a field that is too long or cannot be looked through: refuse the hydration (when absent), or drop the field"`
}

// DefaultPolicy is the preset a document extends when it names none.
const DefaultPolicy = "default-strict"

// Presets lists the policies that every workspace has.
var Presets = []string{"default-strict", "balanced", "secrets-only", "pci", "gdpr-eu", "off"}

// An Action is what a policy does with what a rule found, or with a field.
type Action string

const (
	Remove Action = "remove" // put a placeholder in its place
	Keep   Action = "keep"   // leave it as it is
	Drop   Action = "drop"   // remove all of the field, read or not
)

// A Fault is what happens to a field that cannot be looked through.
type Fault string

const (
	RefuseFault Fault = "refuse"
	DropFault   Fault = "drop"
)

// A FieldRule drops a field, or lets it pass unread.
type FieldRule struct {
	Path   string `json:"path" doc:"The field: tabs[*].selected_text, notes, title"`
	Action Action `json:"action" enum:"drop,keep" doc:"Drop it, or let it pass unread"`
}

// A HostRule drops pages of a host: address, title and selected text.
type HostRule struct {
	Host   string `json:"host" doc:"A host name; *.example.com stands for all below example.com"`
	Action Action `json:"action" enum:"drop,keep" doc:"Drop its pages, or let their addresses pass unread"`
}

// A PathRule drops what was captured of a file.
type PathRule struct {
	Path   string `json:"path" doc:"A path; * stands for a part of a name, ** for any folders"`
	Action Action `json:"action" enum:"drop,keep" doc:"Drop what was captured of it, or let it pass unread"`
}

// URLRule says how much of an address is removed.
type URLRule struct {
	Query    URLPart `json:"query,omitempty" enum:"sensitive,all" doc:"Values of the query: those that are sensitive, or all but a short list of harmless names"`
	Fragment URLPart `json:"fragment,omitempty" enum:"sensitive,all" doc:"The fragment: what is sensitive, or all but places in a page"`
}

// URLPart says how much of a part of an address is removed.
type URLPart string

const (
	Sensitive URLPart = "sensitive"
	All       URLPart = "all"
)

// An Allowance is a value that is never removed. One with an end counts until then.
type Allowance struct {
	Value   string    `json:"value,omitempty" doc:"The value, exactly"`
	Domain  string    `json:"domain,omitempty" doc:"Email addresses of this domain"`
	Types   []string  `json:"types,omitempty" doc:"Only what was found as one of these types; any but secrets when absent"`
	Reason  string    `json:"reason,omitempty" doc:"Why, for who reads the policy"`
	Expires time.Time `json:"expires,omitzero" doc:"Until when (RFC 3339)"`
}

// A Dictionary is a list of words that are always removed, as whole words and in
// either case.
type Dictionary struct {
	ID    string   `json:"id" doc:"Names it in the list of what was removed"`
	Type  string   `json:"type" doc:"What stands in the placeholder: CUSTOMER gives [CUSTOMER_1]"`
	Words []string `json:"words" doc:"The words; at most 10,000 of 3 to 128 bytes"`
}

// A Pattern is a regular expression (RE2 syntax: linear time) whose matches are
// removed.
type Pattern struct {
	ID    string `json:"id" doc:"Names it in the list of what was removed"`
	Type  string `json:"type" doc:"What stands in the placeholder: TICKET gives [TICKET_1]"`
	Regex string `json:"regex" doc:"The expression; at most 1 KiB; a group named value is what is removed of a match"`
}

// Sizes of a policy.
const (
	MaxPolicyRules  = 200 // of each list
	MaxPatterns     = 50
	MaxPattern      = 1 << 10
	MaxDictionaries = 20
	MaxWords        = 10_000
	MaxWord         = 128
	MinWord         = 3
	MinFieldBytes   = 1 << 10
	MaxFieldBytes   = 4 << 20
)

// Check reports every fault of the document by its path, or nil. Names of types
// and rules are known to the engine alone: redact.Compile checks those.
func (d *PolicyDocument) Check() error {
	var f faults
	if d.Extends != "" {
		f.oneOf("extends", d.Extends, Presets...)
	}
	for _, m := range []struct {
		path string
		of   map[string]Action
	}{{"classes", d.Classes}, {"rules", d.Rules}} {
		for _, name := range sortedKeys(m.of) {
			f.oneOf(m.path+"."+name, string(m.of[name]), string(Remove), string(Keep))
		}
	}
	f.places(d)
	f.addresses(d.URLs)
	f.allowances(d.Allow)
	f.dictionaries(d.Dictionaries)
	f.patterns(d.Patterns)
	if d.FieldBytes != 0 && (d.FieldBytes < MinFieldBytes || d.FieldBytes > MaxFieldBytes) {
		f.add("field_bytes", "is %d; it must be from %d to %d", d.FieldBytes, MinFieldBytes, MaxFieldBytes)
	}
	if d.OnFault != "" {
		f.oneOf("on_fault", string(d.OnFault), string(RefuseFault), string(DropFault))
	}
	return f.err()
}

func sortedKeys(m map[string]Action) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (f *faults) places(d *PolicyDocument) {
	f.count("fields", len(d.Fields), MaxPolicyRules)
	for i, r := range d.Fields {
		at := fmt.Sprintf("fields[%d]", i)
		f.place(at+".path", r.Path, fieldPath, "tabs[*].title")
		f.oneOf(at+".action", string(r.Action), string(Drop), string(Keep))
	}
	f.count("hosts", len(d.Hosts), MaxPolicyRules)
	for i, r := range d.Hosts {
		at := fmt.Sprintf("hosts[%d]", i)
		f.place(at+".host", r.Host, hostName, "example.com or *.example.com")
		f.oneOf(at+".action", string(r.Action), string(Drop), string(Keep))
	}
	f.count("paths", len(d.Paths), MaxPolicyRules)
	for i, r := range d.Paths {
		at := fmt.Sprintf("paths[%d]", i)
		f.required(at+".path", r.Path, MaxPath)
		f.oneOf(at+".action", string(r.Action), string(Drop), string(Keep))
	}
}

var (
	fieldPath  = form(`^[a-z_]+(\[\*\])?(\.[a-z_]+(\[\*\])?)*$`)
	hostName   = form(`^(\*\.)?[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*$`)
	customID   = form(`^[a-z][a-z0-9_-]{0,63}$`)
	customType = form(`^[A-Z][A-Z_]{0,31}$`)
)

func (f *faults) place(path, s string, fits func(string) bool, example string) {
	f.required(path, s, MaxName)
	if s != "" && !fits(s) {
		f.add(path, "is not of the form %s", example)
	}
}

func (f *faults) addresses(u *URLRule) {
	if u == nil {
		return
	}
	if u.Query != "" {
		f.oneOf("urls.query", string(u.Query), string(Sensitive), string(All))
	}
	if u.Fragment != "" {
		f.oneOf("urls.fragment", string(u.Fragment), string(Sensitive), string(All))
	}
}

func (f *faults) allowances(list []Allowance) {
	f.count("allow", len(list), MaxPolicyRules)
	for i, a := range list {
		at := fmt.Sprintf("allow[%d]", i)
		if (a.Value == "") == (a.Domain == "") {
			f.add(at, "needs either a value or a domain")
		}
		f.text(at+".value", a.Value, MaxNote)
		f.text(at+".reason", a.Reason, MaxTitle)
		if a.Domain != "" {
			f.place(at+".domain", a.Domain, hostName, "example.com or *.example.com")
		}
	}
}

func (f *faults) dictionaries(list []Dictionary) {
	f.count("dictionaries", len(list), MaxDictionaries)
	for i, d := range list {
		at := fmt.Sprintf("dictionaries[%d]", i)
		f.custom(at, d.ID, d.Type)
		f.count(at+".words", len(d.Words), MaxWords)
		for j, w := range d.Words {
			path := fmt.Sprintf("%s.words[%d]", at, j)
			f.text(path, w, MaxWord)
			if len(w) < MinWord {
				f.add(path, "is %d bytes; fewer than %d would be found everywhere", len(w), MinWord)
			}
		}
	}
}

func (f *faults) custom(at, id, typ string) {
	if !customID(id) {
		f.add(at+".id", "is %.80q; use small letters, digits, - and _", id)
	}
	if !customType(typ) {
		f.add(at+".type", "is %.80q; use capital letters and _, such as TICKET", typ)
	}
}

func (f *faults) patterns(list []Pattern) {
	f.count("patterns", len(list), MaxPatterns)
	for i, p := range list {
		at := fmt.Sprintf("patterns[%d]", i)
		f.custom(at, p.ID, p.Type)
		f.required(at+".regex", p.Regex, MaxPattern)
		switch re, err := syntax.Parse(p.Regex, syntax.Perl); {
		case err != nil:
			f.add(at+".regex", "is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		case matchesEmpty(re):
			f.add(at+".regex", "matches the empty text; ask for at least one character")
		}
	}
}

func matchesEmpty(re *syntax.Regexp) bool {
	compiled, err := regexp.Compile(re.String())
	return err != nil || compiled.MatchString("")
}
