package hodl_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
)

// thread reads nodes written as "a", "b>a" (b depends on a) or "c+a" (c supports a).
func thread(text string) []hodl.Node {
	var out []hodl.Node
	for word := range strings.FieldsSeq(text) {
		n := hodl.Node{Kind: hodl.Observation, Text: "?"}
		id, rest, found := strings.Cut(word, ">")
		if found {
			n.DependsOn = strings.Split(rest, ",")
		} else if id, rest, found = strings.Cut(word, "+"); found {
			n.Supports = strings.Split(rest, ",")
		}
		n.ID = id
		out = append(out, n)
	}
	return out
}

func TestThreadIsAGraph(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"a":             "",
		"a b>a c>a,b":   "",
		"a>b b>c c":     "", // forward references are fine
		"a+b b+a":       "", // supports may go round
		"a a":           "reasoning_thread[1].id",
		"a>b":           "reasoning_thread[0].depends_on[0]",
		"a+b":           "reasoning_thread[0].supports[0]",
		"a>a":           "reasoning_thread[0].depends_on",
		"a>b b>a":       "reasoning_thread[1].depends_on",
		"a>b b>c c>a d": "reasoning_thread[2].depends_on",
	} {
		err := (&hodl.SessionDraft{Thread: thread(text)}).Check()
		if got := pathOf(err); got != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// pathOf is the field of a refusal of one field.
func pathOf(err error) string {
	e, ok := errors.AsType[*hodl.Error](err)
	if !ok || len(e.Fields) != 1 {
		return ""
	}
	return e.Fields[0].Path
}

// A mended thread is sound, keeps all that was, and says what was dropped.
func TestMendThread(t *testing.T) {
	for text, want := range map[string]struct {
		thread  string
		dropped int
	}{
		"a b>a":         {"a b>a", 0},
		"a a":           {"a", 1},
		"a>x,b b":       {"a>b b", 1},
		"a+x":           {"a", 1},
		"a>a":           {"a", 1},
		"a>b b>c c>a":   {"a>b b>c c", 1},
		"a>b,c b>a c>a": {"a>b,c b c", 2},
	} {
		sent := thread(text)
		got, dropped := hodl.MendThread(sent)
		if diff := cmp.Diff(withoutEmpty(thread(want.thread)), withoutEmpty(got)); diff != "" || len(dropped) != want.dropped {
			t.Errorf("%q: dropped %q\n%s", text, dropped, diff)
		}
		if err := (&hodl.SessionDraft{Thread: got}).Check(); err != nil {
			t.Errorf("%q: mended, %v", text, err)
		}
		if diff := cmp.Diff(thread(text), sent); diff != "" {
			t.Errorf("%q was changed in place:\n%s", text, diff)
		}
	}
}

func withoutEmpty(nodes []hodl.Node) []hodl.Node {
	for i := range nodes {
		if len(nodes[i].DependsOn) == 0 {
			nodes[i].DependsOn = nil
		}
		if len(nodes[i].Supports) == 0 {
			nodes[i].Supports = nil
		}
	}
	return nodes
}

// The longest chain and the widest tangle there may be are no matter.
func TestLargestThreads(t *testing.T) {
	var chain, tangle []string
	var ids []string
	for i := range hodl.MaxItems {
		id := fmt.Sprint("n", i)
		chain = append(chain, fmt.Sprintf("n%d>n%d", i, (i+1)%hodl.MaxItems))
		ids = append(ids, id)
	}
	for _, id := range ids[:200] {
		tangle = append(tangle, id+">"+strings.Join(ids[:200], ","))
	}
	for _, text := range []string{strings.Join(chain, " "), strings.Join(tangle, " ")} {
		mended, dropped := hodl.MendThread(thread(text))
		if len(dropped) == 0 || len(dropped) > 50 {
			t.Errorf("%d losses are told", len(dropped))
		}
		if err := (&hodl.SessionDraft{Thread: mended}).Check(); err != nil {
			t.Errorf("mended, %v", err)
		}
	}
}

func TestCheckNode(t *testing.T) {
	there := thread("a b>a")
	for text, want := range map[string]string{
		"c>b": "", "c+a": "", "a": "id", "c>x": "depends_on[0]", "c>c": "depends_on",
	} {
		n := thread(text)[0]
		if err := hodl.CheckNode(&n, there); pathOf(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if !slices.EqualFunc(there, thread("a b>a"), func(a, b hodl.Node) bool { return cmp.Equal(a, b) }) {
		t.Error("the thread was changed")
	}
}
