package main

import (
	"fmt"
	"strings"

	"hodl"
)

// plantings are texts with a value to remove, a number within it. They are joined from
// parts: scanners would find whole ones here. Anybody's regular expressions find the
// first three.
var plantings = [...]string{
	"token ghp" + "_x%dKq2LmZ4vRt7WnYbC3dEfGhJ5sPaQ1uT9iOk", `password = "Tr0ub%ddor&3xyz"`, "mail quentin%d@example.org",
	"call +49 30 9018204%d", `"client_secret": "q%d` + `r5TnW2kLp9XvB4mJd"`,
}

// A remnant of each of the first three, which no redacted text holds.
var remnants = [...]string{"Kq2LmZ4vRt7", "dor&3xyz", "@example.org"}

// planted is the i-th of texts that take the first of plantings in turn.
func planted(i, first int) string { return fmt.Sprintf(plantings[i%first], 10+i) }

// content is a session of about size bytes in the shape of a real one: a tab with a
// selection for every kilobyte, in every other of them something to remove, and a short
// thread.
func content(size int) hodl.Content {
	d := draft("", size)
	return hodl.Content{Title: d.Title, Summary: d.Summary, Tabs: d.Tabs, Thread: d.Thread, Tags: d.Tags}
}

func draft(id string, size int) hodl.SessionDraft {
	const words = "the gateway should hold no business logic and each team releases its part of the schema on its own "
	d := hodl.SessionDraft{
		ID: id, Title: "GraphQL migration for API v3", Summary: "Comparing schema stitching with federation.", Tags: []string{"graphql", "migration"},
		Thread: []hodl.Node{
			{ID: "n1", Kind: hodl.Observation, Text: "Three teams want to release on their own."},
			{ID: "n2", Kind: hodl.DecisionStance, Text: "Lean to federation.", DependsOn: []string{"n1"}},
			{ID: "n3", Kind: hodl.NextStep, Text: "Write down the auth boundary."},
		},
	}
	for i := 0; i < size>>10; i++ {
		scroll, value := float64(i%100), ""
		if i%2 == 0 {
			value = planted(i/2, len(remnants))
		}
		d.Tabs = append(d.Tabs, hodl.Tab{
			URL: fmt.Sprintf("https://docs.example.com/federation/%d", i), Title: fmt.Sprintf("Federation, part %d", i),
			ScrollYPct: &scroll, SelectedText: strings.Repeat(words, 9)[:860-len(value)] + value,
		})
	}
	return d
}

func hodlDraft() hodl.HodlDraft {
	return hodl.HodlDraft{
		URL: "https://docs.example.com/federation", Title: "Introduction to federation",
		Note: strings.Repeat("each team owns its part of the schema ", 20), Tags: []string{"graphql", "api"},
	}
}
