package redact

import "hodl"

// Changes lists the fields that are not as they were captured, with what they hold
// now.
func (r Redacted) Changes() []hodl.PolicyChange {
	content := copyContent(r.content)
	texts := map[string]string{}
	for _, f := range contentFields(&content) {
		texts[f.path()] = *f.text
	}
	changes := []hodl.PolicyChange{}
	for _, x := range r.redactions {
		if n := len(changes); n == 0 || changes[n-1].Field != x.Field {
			changes = append(changes, hodl.PolicyChange{Field: x.Field, After: texts[x.Field]})
		}
		last := &changes[len(changes)-1]
		last.Redactions = append(last.Redactions, x)
	}
	return changes
}
