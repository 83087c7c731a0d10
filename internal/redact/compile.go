package redact

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"hodl"
	"hodl/internal/detect"
)

// A layer is one document made ready. What any layer of a policy removes is
// removed.
type layer struct {
	name     string
	actions  map[string]hodl.Action // by rule id, type and class
	fields   []hodl.FieldRule
	hosts    []hodl.HostRule
	paths    []hodl.PathRule
	urls     hodl.URLRule
	allow    []hodl.Allowance // those that count
	expiring []hodl.Allowance
	custom   []matcher
	limit    int
	onFault  hodl.Fault
}

// A matcher finds a workspace's own words or patterns.
type matcher struct {
	rule  *detect.Rule
	re    *regexp.Regexp
	group int // what of a match is removed
	words *dictionary
}

const defaultFieldBytes = 1 << 20

// Compile makes documents ready to be applied: as one policy of that name and
// version, which removes what any of them removes. A document that is not valid is
// [hodl.ValidationFailed], with the path of each fault.
func Compile(name string, version int, documents ...hodl.PolicyDocument) (*Policy, error) {
	p := &Policy{uses: []hodl.PolicyUse{{Name: name, Version: version}}}
	for i := range documents {
		l, err := compile(name, &documents[i])
		if err != nil {
			return nil, err
		}
		p.layers = append(p.layers, l)
	}
	if len(p.layers) == 0 {
		return nil, hodl.Errorf(hodl.Internal, "a policy without a document")
	}
	return p, nil
}

// Validate reports every fault of a document by its path, or nil.
func Validate(d *hodl.PolicyDocument) error {
	var faults []hodl.FieldError
	if wrong, ok := errors.AsType[*hodl.Error](d.Check()); ok {
		faults = append(faults, wrong.Fields...)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Classes)) {
		if !knownTypes[name] {
			faults = append(faults, hodl.FieldError{Path: "classes." + name, Message: "is neither a class nor a type; docs/redaction.md lists them"})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.Rules)) {
		if !knownRules[id] && !strings.HasPrefix(id, "custom.") {
			faults = append(faults, hodl.FieldError{Path: "rules." + id, Message: "is not a rule; docs/redaction.md lists them"})
		}
	}
	for i, a := range d.Allow {
		for j, t := range a.Types {
			if !knownTypes[t] {
				faults = append(faults, hodl.FieldError{Path: fmt.Sprintf("allow[%d].types[%d]", i, j), Message: "is neither a class nor a type; docs/redaction.md lists them"})
			}
		}
	}
	if len(faults) > 0 {
		return hodl.InvalidFields(faults...)
	}
	return nil
}

// knownTypes holds classes and types, knownRules the ids of rules.
var knownTypes, knownRules = func() (map[string]bool, map[string]bool) {
	types, rules := map[string]bool{"custom": true}, map[string]bool{}
	for _, r := range detect.Rules() {
		types[r.Type], types[string(r.Class())], rules[r.ID] = true, true, true
	}
	return types, rules
}()

func compile(name string, d *hodl.PolicyDocument) (*layer, error) {
	if err := Validate(d); err != nil {
		return nil, err
	}
	l := &layer{name: name, actions: map[string]hodl.Action{}}
	base := presetDocuments[cmp.Or(d.Extends, hodl.DefaultPolicy)]
	l.extend(&base)
	l.overrule(d.Classes, base.Classes)
	l.extend(d)
	for _, x := range d.Dictionaries {
		l.custom = append(l.custom, matcher{rule: customRule(x.ID, x.Type, "a word of the workspace"), words: newDictionary(x.Words)})
	}
	for _, x := range d.Patterns {
		re, err := regexp.Compile(x.Regex)
		if err != nil {
			return nil, hodl.Invalid("patterns", "holds an expression that does not compile")
		}
		l.custom = append(l.custom, matcher{rule: customRule(x.ID, x.Type, "a pattern of the workspace"), re: re, group: max(0, re.SubexpIndex("value"))})
	}
	return l, nil
}

func customRule(id, label, reason string) *detect.Rule {
	return &detect.Rule{ID: "custom." + id, Type: "custom." + strings.ToLower(label), Label: label, Reason: reason, Source: "the workspace's policy"}
}

// overrule drops what the preset says of types of a class that the document names:
// the document's word on the class goes before the preset's on the type.
func (l *layer) overrule(classes, base map[string]hodl.Action) {
	for name := range base {
		if class, _, ok := strings.Cut(name, "."); ok && classes[class] != "" {
			delete(l.actions, name)
		}
	}
}

func (l *layer) extend(d *hodl.PolicyDocument) {
	maps.Copy(l.actions, d.Classes)
	maps.Copy(l.actions, d.Rules)
	l.fields = append(l.fields, d.Fields...)
	l.hosts = append(l.hosts, d.Hosts...)
	l.paths = append(l.paths, d.Paths...)
	if d.URLs != nil {
		l.urls.Query = cmp.Or(d.URLs.Query, l.urls.Query)
		l.urls.Fragment = cmp.Or(d.URLs.Fragment, l.urls.Fragment)
	}
	for _, a := range d.Allow {
		if a.Expires.IsZero() {
			l.allow = append(l.allow, a)
		} else {
			l.expiring = append(l.expiring, a)
		}
	}
	l.limit = cmp.Or(d.FieldBytes, l.limit, defaultFieldBytes)
	l.onFault = cmp.Or(d.OnFault, l.onFault, hodl.RefuseFault)
}

func (l *layer) at(now time.Time) *layer {
	live := *l
	live.allow = slices.Clone(l.allow)
	for _, a := range l.expiring {
		if now.Before(a.Expires) {
			live.allow = append(live.allow, a)
		}
	}
	live.expiring = nil
	return &live
}

// idle reports whether the layer removes nothing from any text.
func (l *layer) idle() bool {
	for _, a := range l.actions {
		if a == hodl.Remove {
			return false
		}
	}
	return len(l.custom) == 0 && l.urls.Query != hodl.All && l.urls.Fragment != hodl.All
}

// removes reports whether the layer removes a value that the rule found.
func (l *layer) removes(r *detect.Rule, value string) bool {
	return l.action(r) == hodl.Remove && !l.allows(r, value)
}

func (l *layer) action(r *detect.Rule) hodl.Action {
	class := string(r.Class())
	a := cmp.Or(l.actions[r.ID], l.actions[r.Type], l.actions[class])
	if a == "" && class == string(detect.Custom) {
		return hodl.Remove
	}
	return a
}

func (l *layer) allows(r *detect.Rule, value string) bool {
	for i := range l.allow {
		a := &l.allow[i]
		fits := a.Value != "" && a.Value == value || a.Domain != "" && r.Type == "pii.email" && ofDomain(value, a.Domain)
		if fits && allowed(a, r) {
			return true
		}
	}
	return false
}

func allowed(a *hodl.Allowance, r *detect.Rule) bool {
	if len(a.Types) == 0 {
		return r.Class() != detect.Secret
	}
	return slices.Contains(a.Types, r.Type) || slices.Contains(a.Types, string(r.Class()))
}

func ofDomain(email, domain string) bool {
	host := strings.ToLower(email[strings.LastIndexByte(email, '@')+1:])
	domain = strings.ToLower(domain)
	if below, ok := strings.CutPrefix(domain, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return host == domain
}
