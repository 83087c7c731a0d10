package redact_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/redact"
)

// A story is a session in versions, and what its placeholders keep from each to the next.
type story struct {
	t       *testing.T
	memory  *redact.Memory
	current *redact.Policy
	history redact.History
}

func newStory(t *testing.T) *story {
	return &story{t, redact.NewMemory(1 << 20), preset(t, "balanced"), redact.History{Salt: []byte("salt of a session")}}
}

// told is a version as a policy lets it out.
func (s *story) told(p *redact.Policy, c hodl.Content) hodl.Content {
	s.t.Helper()
	r, err := s.memory.Apply(p, "wks_a", session(), c, s.history)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Content()
}

// next ends a version.
func (s *story) next(c hodl.Content) {
	s.t.Helper()
	numbers, err := s.memory.Number(s.current, "wks_a", c, s.history, s.history.Salt)
	if err != nil {
		s.t.Fatal(err)
	}
	s.history.Numbers = numbers
}

func note(lines ...string) hodl.Content {
	var c hodl.Content
	for i, l := range lines {
		c.Notes = append(c.Notes, hodl.Note{ID: int64(i), Body: l})
	}
	return c
}

func bodies(c hodl.Content) (out []string) {
	for _, n := range c.Notes {
		out = append(out, n.Body)
	}
	return out
}

// Values keep their numbers whatever comes before them later; those that are gone
// leave theirs to nobody.
func TestNumbersStay(t *testing.T) {
	s := newStory(t)
	for i, v := range []struct{ captured, want []string }{
		{[]string{"ask ana@nordwind.se"}, []string{"ask [EMAIL_1]"}},
		{[]string{"ask bo@nordwind.se", "ask ana@nordwind.se"}, []string{"ask [EMAIL_2]", "ask [EMAIL_1]"}},
		{[]string{"ask bo@nordwind.se"}, []string{"ask [EMAIL_2]"}},
		{[]string{"ask cy@nordwind.se", "ask bo@nordwind.se", "ask ana@nordwind.se"}, []string{"ask [EMAIL_3]", "ask [EMAIL_2]", "ask [EMAIL_1]"}},
		{[]string{"an agent said [EMAIL_2]", "ask bo@nordwind.se", "ask ana@nordwind.se"}, []string{"an agent said [EMAIL_2]", "ask [EMAIL_4]", "ask [EMAIL_1]"}},
		{[]string{"ask di@nordwind.se", "ask bo@nordwind.se"}, []string{"ask [EMAIL_5]", "ask [EMAIL_4]"}},
	} {
		c := note(v.captured...)
		if diff := cmp.Diff(v.want, bodies(s.told(s.current, c))); diff != "" {
			t.Errorf("version %d:\n%s", i, diff)
		}
		s.next(c)
	}
}

// A value has one placeholder under every policy, and keeps it while policies change.
func TestNumbersArePolicies(t *testing.T) {
	s := newStory(t)
	theirs := compiled(t, hodl.PolicyDocument{Extends: "balanced", Allow: []hodl.Allowance{{Value: "ana@nordwind.se"}}})
	first := note("ask ana@nordwind.se and bo@nordwind.se")
	second := note("ask cy@nordwind.se", "ask ana@nordwind.se and bo@nordwind.se")
	for _, p := range []struct {
		policy *redact.Policy
		first  string
	}{{s.current, "ask [EMAIL_1] and [EMAIL_2]"}, {theirs, "ask ana@nordwind.se and [EMAIL_2]"}, {redact.Join(theirs, s.current), "ask [EMAIL_1] and [EMAIL_2]"}} {
		s.history.Numbers = nil
		if got := bodies(s.told(p.policy, first)); got[0] != p.first {
			t.Errorf("%s, not %s", got[0], p.first)
		}
		s.next(first)
		if got := bodies(s.told(p.policy, second)); got[1] != p.first || got[0] != "ask [EMAIL_3]" {
			t.Errorf("later %q, not %s", got, p.first)
		}
	}
}

// Words of a workspace's own are numbered on by its current policy.
func TestNumbersOfOwnWords(t *testing.T) {
	s := newStory(t)
	s.current = compiled(t, hodl.PolicyDocument{Extends: "off", Dictionaries: []hodl.Dictionary{{ID: "c", Type: "CUSTOMER", Words: []string{"Nordwind", "Initech"}}}})
	s.next(note("of Nordwind"))
	if diff := cmp.Diff([]string{"of [CUSTOMER_2]", "of [CUSTOMER_1]"}, bodies(s.told(s.current, note("of Initech", "of Nordwind")))); diff != "" {
		t.Error(diff)
	}
}

// What is kept of values is hashes that another salt makes others of, and a fork, which
// has a salt of its own, keeps the numbers of what it holds.
func TestNumbersUnderAnotherSalt(t *testing.T) {
	s := newStory(t)
	s.next(note("ask ana@nordwind.se", "ask bo@nordwind.se"))
	c := note("ask cy@nordwind.se", "ask bo@nordwind.se")
	forked, err := s.memory.Number(s.current, "wks_a", c, s.history, []byte("another salt"))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := s.history.Numbers["EMAIL"], forked["EMAIL"]; len(a) != 2 || len(b) != 3 || a[1] == b[1] || b[0] != 0 {
		t.Errorf("%v became %v", a, b)
	}
	s.history = redact.History{Salt: []byte("another salt"), Numbers: forked}
	if got := bodies(s.told(s.current, note("ask di@nordwind.se", "ask bo@nordwind.se"))); got[0] != "ask [EMAIL_4]" || got[1] != "ask [EMAIL_2]" {
		t.Errorf("the fork says %q", got)
	}
}

// A session keeps so many numbers and no more.
func TestNumbersAreBounded(t *testing.T) {
	s := newStory(t)
	for version := range 3 {
		var b strings.Builder
		for i := range 2500 {
			fmt.Fprintf(&b, "u%dv%d@nordwind.se\n", i, version)
		}
		s.next(note(b.String()))
	}
	kept := 0
	for _, list := range s.history.Numbers {
		kept += len(list)
	}
	if kept != 4096 {
		t.Errorf("%d numbers are kept", kept)
	}
}

var someEmail = regexp.MustCompile(`\[EMAIL_\d+\]`)

// Over any history a placeholder stands for one value, and a value that stays has one.
func TestNumbersNeverMeanTwoThings(t *testing.T) {
	for seed := range uint64(50) {
		s, r := newStory(t), rand.New(rand.NewPCG(seed, 1))
		means, had := map[string]int{}, map[int]string{}
		for range 12 {
			people := r.Perm(9)[:1+r.IntN(6)]
			var lines []string
			for _, who := range people {
				lines = append(lines, fmt.Sprintf("ask p%d@nordwind.se", who))
			}
			c := note(lines...)
			now := map[int]string{}
			for i, body := range bodies(s.told(s.current, c)) {
				who, p := people[i], someEmail.FindString(body)
				if other, known := means[p]; p == "" || known && other != who || had[who] != "" && had[who] != p {
					t.Fatalf("seed %d: %q for %d, which had %q; it meant %d", seed, body, who, had[who], other)
				}
				means[p], now[who] = who, p
			}
			maps.Copy(had, now)
			s.next(c)
		}
		if len(means) != len(slices.Compact(slices.Sorted(maps.Values(means)))) {
			t.Errorf("seed %d: somebody had two: %v", seed, means)
		}
	}
}
