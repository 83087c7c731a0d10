package redact

import (
	"math"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"hodl"
	"hodl/internal/detect"
)

// A job takes a set of fields through the layers of a policy: look through them, number
// what is found, choose what goes, propagate, rebuild, and look once more until nothing
// is found.
type job struct {
	layers  []*layer
	memory  recall
	fields  []field
	todo    []int         // fields to look through
	found   []detect.Span // memory of what was found
	joined  []detect.Span
	plain   bool // the layers remove nothing but what is found,
	limit   int  // and look through all fields up to this length
	numbers numbering
	log     []entry
	logged  map[entry]int // where in the log an entry stands, without its count
}

// An entry of the log is one replacement.
type entry struct {
	field       int
	rule        *detect.Rule
	placeholder string
	count       int
}

// Rules of the policy itself.
var (
	ruleDropped   = detect.PolicyRule("policy.dropped", "policy.field", "DROPPED", "a field, host or path that the policy drops")
	ruleOversized = detect.PolicyRule("policy.oversized", "policy.field", "DROPPED", "a field too long to be looked through")
)

var jobs = sync.Pool{New: func() any {
	return &job{numbers: numbering{given: map[removed]placeholder{}, next: map[string]int{}, taken: map[string]bool{}}, logged: map[entry]int{}}
}}

func newJob(layers []*layer, fields []field) *job {
	j := jobs.Get().(*job)
	j.fields = fields
	j.plain, j.limit = true, math.MaxInt
	for _, l := range layers {
		if !l.idle() || l.places() {
			j.layers = append(j.layers, l)
			j.plain = j.plain && len(l.custom) == 0 && !l.wholeURLs() && !l.places()
			j.limit = min(j.limit, l.limit)
		}
	}
	return j
}

// free forgets everything and keeps the memory, unless it is much.
func (j *job) free() {
	if len(j.log)+len(j.numbers.given)+len(j.numbers.taken) > 1<<10 {
		return
	}
	clear(j.layers)
	clear(j.log)
	clear(j.logged)
	clear(j.numbers.given)
	clear(j.numbers.next)
	clear(j.numbers.taken)
	j.layers, j.memory, j.fields, j.log, j.found = j.layers[:0], recall{}, nil, j.log[:0], j.found[:0]
	j.numbers.history = nil
	jobs.Put(j)
}

// rounds bounds how often a field is looked through: a placeholder changes what
// stands round it, and a second look may see more.
const rounds = 4

func (j *job) run() error {
	if len(j.layers) == 0 {
		return nil
	}
	j.number()
	if err := j.drops(); err != nil {
		return err
	}
	todo := j.todo[:0]
	for i := range j.fields {
		j.fields[i].spans = j.choose(&j.fields[i])
		todo = append(todo, i)
	}
	j.todo = todo
	for range rounds {
		if todo = j.rebuild(j.propagate(todo)); len(todo) == 0 {
			return nil
		}
		for _, i := range todo {
			j.look(&j.fields[i])
			j.fields[i].spans = j.choose(&j.fields[i])
		}
	}
	return nil
}

// number looks through all fields and numbers what is found, whatever of it the layers
// remove: the same value has the same placeholder under every policy, and no change of
// a policy renumbers others.
func (j *job) number() {
	for i := range j.fields {
		j.look(&j.fields[i])
	}
	j.numbers.reserve(j.fields)
	for i := range j.fields {
		f := &j.fields[i]
		if len(f.spans) == 0 {
			continue
		}
		j.joined = append(j.joined[:0], f.spans...)
		for _, s := range detect.Resolve(j.joined) {
			j.numbers.placeholder(s.Rule, (*f.text)[s.Start:s.End])
		}
	}
}

// look sets the spans of a field to what is found in it.
func (j *job) look(f *field) {
	from := len(j.found)
	j.found = j.memory.scan(j.found, f)
	f.spans = j.found[from:len(j.found):len(j.found)]
	for i := range f.spans {
		s := &f.spans[i]
		s.Start, s.End = runeBounds(*f.text, s.Start, s.End)
	}
}

// drops replaces the fields that may not leave at all, and refuses those that
// cannot be looked through.
func (j *job) drops() error {
	for i := range j.fields {
		f := &j.fields[i]
		if j.plain && len(*f.text) <= j.limit {
			continue
		}
		for _, l := range j.layers {
			if l.drops(f) {
				j.drop(i, ruleDropped)
				break
			}
			if len(*f.text) > l.limit {
				if l.onFault == hodl.RefuseFault {
					return hodl.Errorf(hodl.Forbidden, "%s is %d bytes long, and the redaction policy %q looks through %d", f.path(), len(*f.text), l.name, l.limit).
						WithHint("raise field_bytes of the policy, or set its on_fault to drop")
				}
				j.drop(i, ruleOversized)
				break
			}
		}
	}
	return nil
}

func (j *job) drop(i int, r *detect.Rule) {
	f := &j.fields[i]
	p := j.numbers.placeholder(r, *f.text)
	if f.kind == detect.URL {
		*f.text = droppedAddress(*f.text, p.inAddress())
	} else {
		*f.text = p.inText()
	}
	j.log = append(j.log, entry{i, r, p.inText(), 1})
	j.look(f)
}

// droppedAddress keeps the host, which tells nobody anything new: the policy names
// it.
func droppedAddress(address, placeholder string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.Host == "" || strings.ContainsAny(u.Host, "@") {
		return "about:" + placeholder
	}
	return u.Scheme + "://" + u.Hostname() + "/" + placeholder
}

// drops reports whether the layer drops the whole field.
func (l *layer) drops(f *field) bool { return l.places() && l.dropsPlace(f) }

// places reports whether the layer has rules for fields, hosts or paths.
func (l *layer) places() bool { return len(l.fields)+len(l.hosts)+len(l.paths) > 0 }

func (l *layer) dropsPlace(f *field) bool {
	if l.fieldAction(f) == hodl.Drop {
		return true
	}
	if len(l.hosts) > 0 && f.page != "" && l.hostAction(f.page) == hodl.Drop {
		return true
	}
	return len(l.paths) > 0 && f.file != "" && l.pathAction(f.file) == hodl.Drop
}

// keeps reports whether the layer lets the field pass unread.
func (l *layer) keeps(f *field) bool { return l.places() && l.keepsPlace(f) }

func (l *layer) keepsPlace(f *field) bool {
	return l.fieldAction(f) == hodl.Keep ||
		len(l.hosts) > 0 && f.page != "" && f.kind == detect.URL && l.hostAction(f.page) == hodl.Keep ||
		len(l.paths) > 0 && f.file != "" && l.pathAction(f.file) == hodl.Keep
}

func (l *layer) fieldAction(f *field) hodl.Action {
	if len(l.fields) == 0 {
		return ""
	}
	p := f.general()
	for _, r := range l.fields {
		rest, ok := strings.CutPrefix(p, r.Path)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return r.Action
		}
	}
	return ""
}

func (l *layer) hostAction(page string) hodl.Action {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	for _, r := range l.hosts {
		want := strings.ToLower(r.Host)
		if below, ok := strings.CutPrefix(want, "*."); ok && strings.HasSuffix(host, "."+below) || host == want {
			return r.Action
		}
	}
	return ""
}

func (l *layer) pathAction(file string) hodl.Action {
	for _, r := range l.paths {
		if globMatches(strings.Split(r.Path, "/"), strings.Split(strings.ReplaceAll(file, `\`, "/"), "/")) {
			return r.Action
		}
	}
	return ""
}

// globMatches matches folder by folder; ** stands for any of them.
func globMatches(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(parts) + 1 {
				if globMatches(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); err != nil || !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}

// choose returns what the layers remove of a field, in order and apart.
func (j *job) choose(f *field) []detect.Span {
	text, found := *f.text, f.spans
	if len(found) == 0 && j.plain {
		return nil
	}
	if f.kind == detect.URL && slices.ContainsFunc(j.layers, (*layer).wholeURLs) {
		found = detect.AddressParts(found, text)
	}
	kept := found[:0]
	for _, s := range found {
		if slices.ContainsFunc(j.layers, func(l *layer) bool {
			return l.removes(s.Rule, text[s.Start:s.End]) && l.asks(s.Rule) && !l.keeps(f)
		}) {
			kept = append(kept, s)
		}
	}
	for _, l := range j.layers {
		if !l.keeps(f) {
			kept = l.own(kept, text)
		}
	}
	return detect.Resolve(kept)
}

func (l *layer) wholeURLs() bool { return l.urls.Query == hodl.All || l.urls.Fragment == hodl.All }

// asks reports whether the layer wants whole parts of addresses gone, for the rules
// that find those.
func (l *layer) asks(r *detect.Rule) bool {
	switch r.ID {
	case "url.any_query":
		return l.urls.Query == hodl.All
	case "url.any_fragment":
		return l.urls.Fragment == hodl.All
	}
	return true
}

// own adds what the workspace's own words and patterns find.
func (l *layer) own(spans []detect.Span, text string) []detect.Span {
	for i := range l.custom {
		m := &l.custom[i]
		if m.words != nil {
			spans = m.words.find(spans, text, m.rule)
			continue
		}
		for _, at := range m.re.FindAllStringSubmatchIndex(text, 10_000) {
			a, b := at[2*m.group], at[2*m.group+1]
			if a >= 0 && a < b && l.removes(m.rule, text[a:b]) && !detect.IsPlaceholder(text[a:b]) {
				spans = append(spans, detect.Span{Start: a, End: b, Rule: m.rule})
			}
		}
	}
	return spans
}

// runeBounds widens a span to whole characters.
func runeBounds(text string, start, end int) (int, int) {
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) && start > 3 {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return start, end
}

// rebuild puts placeholders in the places found and returns the fields changed.
func (j *job) rebuild(fields []int) []int {
	changed := fields[:0]
	for _, i := range fields {
		f := &j.fields[i]
		if len(f.spans) == 0 {
			continue
		}
		text := *f.text
		var b strings.Builder
		b.Grow(len(text) + 8*len(f.spans))
		at := 0
		f.windows = f.windows[:0]
		quote := quotes{document: f.document && detect.IsDocument(text)}
		for _, s := range f.spans {
			if s.Start < at {
				continue // of a number that is gone
			}
			p := j.numbers.placeholder(s.Rule, text[s.Start:s.End])
			start, end, fit := quote.fit(p, f.kind, text, at, s)
			b.WriteString(text[at:start])
			b.WriteString(fit)
			if len(text) > 2*reach {
				f.changed(b.Len()-len(fit), b.Len())
			}
			at = end
			j.note(i, s.Rule, p.inText())
		}
		b.WriteString(text[at:])
		*f.text, f.spans = b.String(), nil
		f.settle(j)
		changed = append(changed, i)
	}
	return changed
}

func (j *job) note(field int, r *detect.Rule, placeholder string) {
	e := entry{field: field, rule: r, placeholder: placeholder}
	k, ok := j.logged[e]
	if !ok {
		k = len(j.log)
		j.logged[e], j.log = k, append(j.log, e)
	}
	j.log[k].count++
}

// manifest returns what was removed, in the order of the fields: for the reader and
// for the access record.
func (j *job) manifest() ([]hodl.Redaction, []hodl.RedactionUse) {
	slices.SortStableFunc(j.log, func(a, b entry) int { return a.field - b.field })
	redactions := make([]hodl.Redaction, 0, len(j.log))
	uses := make([]hodl.RedactionUse, 0, len(j.log))
	of := 0 // where the uses of the field begin
	for i, e := range j.log {
		at := j.fields[e.field].path()
		if i == 0 || e.field != j.log[i-1].field {
			of = len(uses)
		}
		redactions = append(redactions, hodl.Redaction{Field: at, Reason: e.rule.Reason, Rule: e.rule.ID, Type: e.rule.Type, Count: e.count, Placeholder: e.placeholder})
		k := of + slices.IndexFunc(uses[of:], func(u hodl.RedactionUse) bool { return u.Rule == e.rule.ID })
		if k < of {
			uses = append(uses, hodl.RedactionUse{Path: at, Rule: e.rule.ID, Count: e.count})
			continue
		}
		uses[k].Count += e.count
	}
	return redactions, uses
}
