package main

import (
	"fmt"
	"io"
	"strings"
)

// baselines are the scores of other tools on the same texts, each by its own
// defaults: precision, recall, F1, recall of secrets, recall of personal data,
// untouched negatives, share of sensitive bytes left.
var baselines = []struct {
	tool   string
	scores [7]float64
}{
	{"gitleaks 8.30.1", [7]float64{.993, .480, .647, .628, 0, .997, .276}},
	{"betterleaks 1.7.0", [7]float64{.997, .489, .656, .641, 0, .999, .250}},
	{"gitleaks and entropy 4.5", [7]float64{.791, .553, .651, .723, .004, .915, .178}},
	{"Presidio 2.2.363, patterns", [7]float64{.702, .257, .376, .044, .946, .954, .930}},
}

// A goal is a number to reach, on one side.
type goal struct {
	name string
	got  float64
	want float64
	most bool // at most, rather than at least
}

func (g goal) reached() bool {
	if g.most {
		return g.got <= g.want
	}
	return g.got >= g.want
}

// goals prints each goal with what was reached.
func (t *tally) goals(w io.Writer) {
	for _, g := range t.goalList() {
		sign, verdict := "≥", "reached"
		if g.most {
			sign = "≤"
		}
		if !g.reached() {
			verdict = "MISSED"
		}
		_, _ = fmt.Fprintf(w, "  %-34s %.4f  %s %.3f  %s\n", g.name, g.got, sign, g.want, verdict)
	}
}

func (t *tally) goalList() []goal {
	secret, pii := *of(t.groups, "secret"), *of(t.groups, "pii")
	p := ratio(t.right, t.right+t.wrong)
	r := ratio(secret.hit+pii.hit, secret.gold+pii.gold)
	list := []goal{
		{name: "F1", got: 2 * p * r / max(p+r, 1e-9), want: .92},
		{name: "precision", got: p, want: .95},
		{name: "secrets found", got: secret.recall(), want: .90},
		{name: "secrets covered in full", got: ratio(secret.full, secret.gold), want: .88},
		{name: "personal data found", got: pii.recall(), want: .92},
		{name: "sensitive bytes left", got: ratio(secret.leaked+pii.leaked, secret.bytes+pii.bytes), want: .07, most: true},
	}
	if t.negatives >= 1000 {
		list = append(list, goal{name: "untouched negatives", got: 1 - ratio(t.touched, t.negatives), want: .975})
	}
	if c := *of(t.sources, "constructed-urls / secret"); c.gold > 0 {
		list = append(list, goal{name: "tokens in addresses found", got: c.recall(), want: .97})
	}
	if c := t.passwords(); c.gold > 0 {
		list = append(list, goal{name: "passwords in repositories found", got: c.recall(), want: .85})
	}
	if secret.gold+pii.gold < 1000 { // the sessions
		return []goal{{name: "recall in serialized sessions", got: r, want: .90}}
	}
	return list
}

// passwords sums up the labels of CredData that are about passwords.
func (t *tally) passwords() (c count) {
	for name, n := range t.types {
		if strings.HasPrefix(name, "secret.cd-") && strings.Contains(name, "password") {
			c.gold, c.hit = c.gold+n.gold, c.hit+n.hit
		}
	}
	return c
}

func printBaselines(w io.Writer) {
	_, _ = fmt.Fprintf(w, "\nother tools on the texts         precision recall F1    secrets personal untouched bytes left\n")
	for _, b := range baselines {
		s := b.scores
		_, _ = fmt.Fprintf(w, "  %-30s %.3f     %.3f  %.3f %.3f   %.3f    %.3f     %.3f\n", b.tool, s[0], s[1], s[2], s[3], s[4], s[5], s[6])
	}
}
