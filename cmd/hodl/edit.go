package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hodl"
	"hodl/client"
)

func showCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "show ID", Short: "Show a hodl", Args: exactly("ID"),
		Example: `  hodl show hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC
  hodl show hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC --json`,
		ValidArgsFunction: e.completes(1, completeHodls),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			h, err := api.Hodl(c.Context(), hodl.HodlID(args[0]))
			return e.show(err, func() error { return e.printHodl(h) })
		},
	}
	return e.reaches(c)
}

func (e *env) printHodl(h *hodl.Hodl) error {
	facts := [][2]string{
		{"hodl", string(h.ID)},
		{"title", h.Title},
		{"url", h.URL},
		{"place", placeOf(h.Location)},
	}
	if l := h.Location; l != nil {
		facts = append(facts, [2]string{"repository", l.Repository}, [2]string{"branch", l.Branch}, [2]string{"commit", l.Commit})
	}
	facts = append(facts, [][2]string{
		{"tags", joined(h.Tags, " ")},
		{"session", string(h.SessionID)},
		{"held", e.when(h.CreatedAt) + " by " + string(h.Source)},
		{"link", h.DeepLink},
	}...)
	if err := e.printFacts(facts); err != nil {
		return err
	}
	texts := []string{h.Note}
	if h.Location != nil && h.Location.Selection != nil {
		texts = append(texts, h.Location.Selection.Text)
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		if err := e.printText("\n" + text); err != nil {
			return err
		}
	}
	return nil
}

// editFlags is what of a hodl can be changed.
type editFlags struct {
	url, title, note, session string
	tags, add, remove         []string
}

func editCommand(e *env) *cobra.Command {
	var flags editFlags
	c := &cobra.Command{
		Use: "edit ID", Short: "Change a hodl", Args: exactly("ID"),
		Long: `Changes what is given and leaves the rest. --title '' and the like empty a field;
--tag replaces all labels, --add-tag and --remove-tag change some.`,
		Example: `  hodl edit hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC --note 'off by one, yes'
  hodl edit hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC --add-tag fixed --remove-tag bug
  hodl edit hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC --session ''`,
		ValidArgsFunction: e.completes(1, completeHodls),
		RunE: func(c *cobra.Command, args []string) error {
			return e.edit(c, hodl.HodlID(args[0]), flags)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.url, "to-url", "", "new address of the hodl; --url is the server's")
	f.StringVar(&flags.title, "title", "", "new title")
	f.StringVar(&flags.note, "note", "", "new note")
	f.StringVar(&flags.session, "session", "", "`ID` of the session it belongs to")
	f.StringArrayVar(&flags.tags, "tag", nil, "new label, instead of all; may be given more than once, or several with commas")
	f.StringArrayVar(&flags.add, "add-tag", nil, "one more label")
	f.StringArrayVar(&flags.remove, "remove-tag", nil, "one label less")
	completeFlag(c, "session", e.completes(0, completeSessions))
	return e.reaches(c)
}

func (e *env) edit(c *cobra.Command, id hodl.HodlID, flags editFlags) error {
	change := flags.change(c.Flags())
	relative := len(flags.add)+len(flags.remove) > 0
	if change == (hodl.HodlChange{}) && !relative {
		return hint(usagef("nothing to change"), "give what is new, such as --title or --add-tag")
	}
	if relative && change.Tags != nil {
		return usagef("--tag replaces all labels: leave out --add-tag and --remove-tag")
	}
	api, err := e.client()
	if err != nil {
		return err
	}
	var options []client.CallOption
	if relative {
		h, err := api.Hodl(c.Context(), id)
		if err != nil {
			return e.failed(err)
		}
		tags := flags.retag(h.Tags)
		change.Tags, options = &tags, append(options, client.IfMatch(h.Revision()))
	}
	h, err := api.ChangeHodl(c.Context(), id, change, options...)
	return e.show(err, func() error { return e.printLine("changed " + string(h.ID)) })
}

// change is what was given, be it empty.
func (f *editFlags) change(given *pflag.FlagSet) hodl.HodlChange {
	var out hodl.HodlChange
	for name, field := range map[string]struct {
		to   **string
		from *string
	}{"to-url": {&out.URL, &f.url}, "title": {&out.Title, &f.title}, "note": {&out.Note, &f.note}} {
		if given.Changed(name) {
			*field.to = field.from
		}
	}
	if given.Changed("session") {
		session := hodl.SessionID(f.session)
		out.SessionID = &session
	}
	if given.Changed("tag") {
		tags := append([]string{}, splitTags(f.tags)...)
		out.Tags = &tags
	}
	return out
}

// retag returns tags with some added and some taken away.
func (f *editFlags) retag(tags []string) []string {
	gone := splitTags(f.remove)
	out := splitTags(append(slices.Clone(tags), f.add...))
	return append([]string{}, slices.DeleteFunc(out, func(tag string) bool { return slices.Contains(gone, tag) })...)
}
