package redact

import "hodl"

// presetVersion stands in access records; it rises whenever a preset or the rules
// change.
const presetVersion = 2

// presetDocuments say what each preset removes. A document of a preset starts from
// nothing: what it does not name is kept, a workspace's own words apart.
var presetDocuments = map[string]hodl.PolicyDocument{
	Off:            {},
	"secrets-only": {Classes: remove("secret")},
	"pci":          {Classes: remove("secret", "pii.card", "pii.iban", "pii.bank_account")},
	"balanced":     {Classes: remove("secret", "pii")},
	"gdpr-eu":      {Classes: remove("secret", "pii"), URLs: &hodl.URLRule{Query: hodl.Sensitive, Fragment: hodl.All}},
	"default-strict": {
		Classes: remove("secret", "pii"),
		URLs:    &hodl.URLRule{Query: hodl.All, Fragment: hodl.All},
	},
}

func remove(what ...string) map[string]hodl.Action {
	m := map[string]hodl.Action{}
	for _, w := range what {
		m[w] = hodl.Remove
	}
	return m
}

// Preset returns the document of a preset, for who wants to read or compare it.
func Preset(name string) (hodl.PolicyDocument, bool) {
	d, ok := presetDocuments[name]
	return d, ok
}

var presets = func() map[string]*Policy {
	m := map[string]*Policy{}
	for name, d := range presetDocuments {
		l := &layer{name: name, actions: map[string]hodl.Action{}}
		l.extend(&d)
		m[name] = &Policy{uses: []hodl.PolicyUse{{Name: name, Version: presetVersion}}, layers: []*layer{l}}
	}
	return m
}()
