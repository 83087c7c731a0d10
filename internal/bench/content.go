package main

import (
	"fmt"
	"strings"

	"hodl"
)

// content is a session of about size bytes in the shape of a real one: a tab with a
// selection for every kilobyte, and a short thread.
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
		scroll := float64(i % 100)
		d.Tabs = append(d.Tabs, hodl.Tab{
			URL: fmt.Sprintf("https://docs.example.com/federation/%d", i), Title: fmt.Sprintf("Federation, part %d", i),
			ScrollYPct: &scroll, SelectedText: strings.Repeat(words, 9)[:860],
		})
	}
	return d
}
