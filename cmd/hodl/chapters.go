package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// chapters is how --help sorts the commands, by what they are about. A command that
// is in none stands at the end.
var chapters = []struct{ title, commands string }{
	{"What you work on:", "hold list search show resume edit delete tags check import export queue"},
	{"Sessions, and agents that get them:", "session token hydrate audience policy mcp"},
	{"Keys, people and use:", "key me member user workspace usage"},
	{"Proof:", "audit witness"},
	{"Texts:", "redact"},
	{"The server:", "serve doctor config backup restore seal"},
}

func sortInto(root *cobra.Command) {
	for _, ch := range chapters {
		root.AddGroup(&cobra.Group{ID: ch.title, Title: ch.title})
		for name := range strings.FieldsSeq(ch.commands) {
			for _, c := range root.Commands() {
				if c.Name() == name {
					c.GroupID = ch.title
				}
			}
		}
	}
}
