package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
)

// pushFlags is what of a session can be given without a file.
type pushFlags struct {
	id, title, summary string
	tabs, tags, notes  []string
	open               bool
}

func sessionPushCommand(e *env) *cobra.Command {
	var flags pushFlags
	c := &cobra.Command{
		Use: "push [FILE|-]", Short: "Capture a session", Args: atMost(1),
		Long: `Captures a session and prints its id. It is read as JSON from a file, or from
standard input when that is -, in the form of POST /v1/sessions; flags replace or
add to what is there. A session that exists is replaced.`,
		Example: `  hodl session push session.json
  hodl session push --title 'the cache bug' --tab https://example.com/issues/7
  jq .session export.json | hodl session push - --id ses_8f3aZ91b`,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := e.draft(args)
			if err != nil {
				return err
			}
			flags.apply(&d)
			if len(args) == 0 && flags.empty() {
				return hint(usagef("nothing to push"), "give a file, - for standard input, or flags such as --title")
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			got, err := api.CaptureSession(c.Context(), d)
			return e.show(err, func() error {
				for _, w := range got.Warnings {
					e.note("%s", w)
				}
				return e.printLine(string(got.ID))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&flags.id, "id", "", "`ID` of the session; made by the server when there is none")
	f.StringVar(&flags.title, "title", "", "title")
	f.StringVar(&flags.summary, "summary", "", "summary")
	f.StringArrayVar(&flags.tabs, "tab", nil, "`URL` of an open page; may be given more than once")
	f.StringArrayVar(&flags.tags, "tag", nil, "label; may be given more than once")
	f.StringArrayVar(&flags.notes, "note", nil, "partial note; may be given more than once")
	f.BoolVar(&flags.open, "open", false, "the person is still at work: a live update")
	return e.reaches(c)
}

// draft reads the session of the file that args names, an empty one without.
func (e *env) draft(args []string) (hodl.SessionDraft, error) {
	var d hodl.SessionDraft
	if len(args) == 0 {
		return d, nil
	}
	name, in := "standard input", io.NopCloser(e.in)
	if args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return d, err
		}
		name, in = args[0], f
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, hodl.MaxRequest+1))
	if err != nil {
		return d, fmt.Errorf("read %s: %w", name, err)
	}
	if len(content) > hodl.MaxRequest {
		return d, fmt.Errorf("%s is larger than a request may be: %d bytes", name, hodl.MaxRequest)
	}
	return d, decodeDraft(name, content, &d)
}

// decodeDraft is as strict as the server, which refuses fields it does not know.
func decodeDraft(name string, content []byte, d *hodl.SessionDraft) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(d)
	if err == nil && decoder.More() {
		err = errors.New("more than one JSON value")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		err = fmt.Errorf("%s does not take a %s", wrong.Field, wrong.Value)
	}
	if err == nil {
		return nil
	}
	reason := strings.TrimPrefix(err.Error(), "json: ")
	return hint(fmt.Errorf("%s is not a session: %s", name, reason), "its form is that of POST /v1/sessions, which the server shows at /docs")
}

func (f *pushFlags) apply(d *hodl.SessionDraft) {
	for _, field := range []struct {
		to   *string
		from string
	}{{&d.ID, f.id}, {&d.Title, f.title}, {&d.Summary, f.summary}} {
		if field.from != "" {
			*field.to = field.from
		}
	}
	for _, url := range f.tabs {
		d.Tabs = append(d.Tabs, hodl.Tab{URL: url, Title: url})
	}
	d.Tags = append(d.Tags, f.tags...)
	for _, body := range f.notes {
		d.Notes = append(d.Notes, hodl.NoteDraft{Body: body})
	}
	if f.open {
		d.State = hodl.Open
	}
}

func (f *pushFlags) empty() bool {
	return f.title == "" && f.summary == "" && len(f.tabs) == 0 && len(f.notes) == 0
}
