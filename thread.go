package hodl

import (
	"fmt"
	"slices"
)

// A Node is one step of a reasoning thread: typed, so that an agent can tell a
// conclusion from a question without parsing prose.
type Node struct {
	ID         string   `json:"id" doc:"Name of the node within its thread; at most 128 bytes"`
	Kind       NodeKind `json:"kind" enum:"observation,partial_conclusion,decision_stance,blocker,question,next_step,reference" doc:"What kind of step it is"`
	Text       string   `json:"text" doc:"The step in words"`
	Evidence   []string `json:"evidence,omitempty" doc:"Addresses or quotations it rests on"`
	Supports   []string `json:"supports,omitempty" doc:"Ids of nodes it speaks for"`
	DependsOn  []string `json:"depends_on,omitempty" doc:"Ids of nodes that must hold first; no cycles"`
	Confidence *float64 `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"How sure the author is, 0 to 1"`
}

// NodeKind is the type of a reasoning node.
type NodeKind string

const (
	Observation       NodeKind = "observation"
	PartialConclusion NodeKind = "partial_conclusion"
	DecisionStance    NodeKind = "decision_stance"
	Blocker           NodeKind = "blocker"
	Question          NodeKind = "question"
	NextStep          NodeKind = "next_step"
	Reference         NodeKind = "reference"
)

// NodeKinds lists every kind of node.
var NodeKinds = []NodeKind{Observation, PartialConclusion, DecisionStance, Blocker, Question, NextStep, Reference}

// MendThread drops what makes a thread no graph (repeated ids, references to
// nodes that are not there, cycles in depends_on) and names each thing dropped.
// It is for the lenient calls, whose clients cannot react to a refusal.
func MendThread(thread []Node) ([]Node, []string) {
	var dropped losses
	known := map[string]bool{}
	out := make([]Node, 0, len(thread))
	for i, n := range thread {
		if known[n.ID] {
			dropped.add("reasoning_thread[%d]: a node %.80q is already there; dropped", i, n.ID)
			continue
		}
		known[n.ID] = true
		out = append(out, n)
	}
	for i := range out {
		out[i].Supports = keepKnown(known, out[i].Supports, fmt.Sprintf("reasoning_thread[%d].supports", i), &dropped)
		out[i].DependsOn = keepKnown(known, out[i].DependsOn, fmt.Sprintf("reasoning_thread[%d].depends_on", i), &dropped)
	}
	for _, e := range cycleEdges(out) {
		n := &out[e.node]
		n.DependsOn = slices.DeleteFunc(slices.Clone(n.DependsOn), func(id string) bool { return id == e.dependency })
		dropped.add("reasoning_thread[%d].depends_on: %.80q closes a cycle; dropped", e.node, e.dependency)
	}
	return out, dropped
}

// losses names what was dropped of a thread.
type losses []string

func (l *losses) add(format string, args ...any) {
	const enough = 50 // a reader learns nothing from the fifty-first
	if len(*l) < enough {
		*l = append(*l, fmt.Sprintf(format, args...))
	}
}

func keepKnown(known map[string]bool, ids []string, path string, dropped *losses) []string {
	kept := make([]string, 0, len(ids))
	for _, id := range ids {
		if known[id] {
			kept = append(kept, id)
			continue
		}
		dropped.add("%s: no node %.80q in this thread; dropped", path, id)
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// checkGraph names every repeated id, dangling reference and cycle of a thread.
func checkGraph(thread []Node, faults *faults) {
	known := make(map[string]bool, len(thread))
	for i, n := range thread {
		if known[n.ID] {
			faults.add(fmt.Sprintf("reasoning_thread[%d].id", i), "repeats %.80q; ids are unique within a thread", n.ID)
		}
		known[n.ID] = true
	}
	dangling := false
	for i, n := range thread {
		for _, refs := range []struct {
			field string
			ids   []string
		}{{"supports", n.Supports}, {"depends_on", n.DependsOn}} {
			for j, id := range refs.ids {
				if !known[id] {
					dangling = true
					faults.add(fmt.Sprintf("reasoning_thread[%d].%s[%d]", i, refs.field, j), "names %.80q, which is no node of this thread", id)
				}
			}
		}
	}
	if dangling {
		return
	}
	for _, e := range cycleEdges(thread) {
		faults.add(fmt.Sprintf("reasoning_thread[%d].depends_on", e.node), "closes a cycle through %.80q; a node cannot depend on itself", e.dependency)
	}
}

// An edge is a node, by its place in the thread, and the id it depends on.
type edge struct {
	node       int
	dependency string
}

// cycleEdges returns the edges of depends_on without which it has no cycle: the
// back edges of one depth-first walk in thread order, so linear in its size.
// The depth is bounded by the 1,000 nodes a thread may have.
func cycleEdges(thread []Node) []edge {
	const (
		unseen = iota
		open
		done
	)
	place := make(map[string]int, len(thread))
	for i, n := range thread {
		place[n.ID] = i
	}
	mark := make([]int, len(thread))
	var back []edge
	var visit func(i int)
	visit = func(i int) {
		mark[i] = open
		for _, id := range thread[i].DependsOn {
			j, known := place[id]
			switch {
			case known && mark[j] == open:
				back = append(back, edge{i, id})
			case known && mark[j] == unseen:
				visit(j)
			}
		}
		mark[i] = done
	}
	for i := range thread {
		if mark[i] == unseen {
			visit(i)
		}
	}
	return back
}
