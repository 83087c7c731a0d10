package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/internal/detect"
	"hodl/internal/redact"
)

// redaction is what hodl redact was asked to do.
type redaction struct {
	policy, field string
	spans, fail   bool
	lines         bool
	found         bool
}

func redactCommand(e *env) *cobra.Command {
	var r redaction
	c := &cobra.Command{
		Use: "redact", Short: "Remove credentials and personal data from a text", Args: exactly(),
		Long: `Reads text on standard input and writes it to standard output with placeholders in
place of credentials and personal data, as an agent would get it. Nothing leaves this
machine. A text that is one JSON document is read string by string and stays one.

--policy names a preset (` + strings.Join(hodl.Presets, ", ") + `) or a
file with a policy document, YAML or JSON. --field says what the text is: url, title,
note, selection, path, branch or tag.

--lines takes each line as a text of its own, such as one JSON document a line.
--spans reads lines {"id","text"} and writes lines {"id","spans":[{"start","end",
"type","rule"}]} instead: half-open offsets in bytes of UTF-8.

With --fail the exit code is 3 when something was found, for a check before a commit.`,
		Example: `  hodl redact < notes.txt
  git diff --cached | hodl redact --fail > /dev/null
  kubectl logs app | hodl redact --policy secrets-only --lines`,
		RunE: func(*cobra.Command, []string) error { return e.redact(&r) },
	}
	f := c.Flags()
	f.StringVar(&r.policy, "policy", "balanced", "preset, or `FILE` with a policy document")
	f.StringVar(&r.field, "field", "note", "what the text is: `KIND` url, title, note, selection, path, branch or tag")
	f.BoolVar(&r.lines, "lines", false, "take each line as a text of its own")
	f.BoolVar(&r.spans, "spans", false, "read lines {id,text}, write where something was found")
	f.BoolVar(&r.fail, "fail", false, "exit with 3 when something was found")
	return c
}

var fieldKinds = map[string]detect.Kind{
	"url": detect.URL, "title": detect.Text, "note": detect.Text, "selection": detect.Text, "text": detect.Text,
	"path": detect.Word, "branch": detect.Word, "tag": detect.Word,
}

func (e *env) redact(r *redaction) error {
	kind, ok := fieldKinds[r.field]
	if !ok {
		return usagef("--field is %q; use url, title, note, selection, path, branch or tag", r.field)
	}
	policy, err := policyOf(r.policy)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(e.out)
	switch {
	case r.spans:
		err = r.spansOf(e.in, out, policy, kind)
	case r.lines:
		err = eachLine(e.in, func(line []byte) error { return r.clean(string(line), out, policy, kind) })
	default:
		err = e.redactWhole(r, out, policy, kind)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if r.fail && r.found {
		return answer(hodl.Errorf(hodl.ValidationFailed, "something was found that should not leave"))
	}
	return nil
}

// policyOf returns the preset of that name, or the policy of the document in the
// file of that name.
func policyOf(name string) (*redact.Policy, error) {
	if p, ok := redact.Lookup(name); ok {
		return p, nil
	}
	d, err := documentIn(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint(fmt.Errorf("--policy is %q, which is neither a preset nor a file", name),
			"presets are %s; for a policy of the workspace: hodl policy show %s > %s.json", strings.Join(hodl.Presets, ", "), name, name)
	}
	if err != nil {
		return nil, err
	}
	p, err := redact.Compile(name, 1, d)
	if refused, ok := errors.AsType[*hodl.Error](err); ok {
		inFile := *refused
		inFile.Message, inFile.Hint = name+": "+refused.Message, "mend the file; docs/redaction.md tells what it may say"
		err = &inFile
	}
	return p, err
}

// redactWhole takes all of the input as one text. With --json it also tells what
// was removed.
func (e *env) redactWhole(r *redaction, out io.Writer, p *redact.Policy, kind detect.Kind) error {
	text, err := io.ReadAll(e.in)
	if err != nil {
		return err
	}
	if !e.json {
		return r.clean(string(text), out, p, kind)
	}
	cleaned, removed, err := p.Text(string(text), kind)
	if err != nil {
		return err
	}
	r.found = len(removed) > 0
	return e.printJSON(struct {
		Text       string           `json:"text"`
		Redactions []hodl.Redaction `json:"redactions"`
	}{cleaned, removed})
}

func (r *redaction) clean(text string, out io.Writer, p *redact.Policy, kind detect.Kind) error {
	cleaned, removed, err := p.Text(text, kind)
	if err != nil {
		return err
	}
	r.found = r.found || len(removed) > 0
	_, err = io.WriteString(out, cleaned)
	return err
}

// foundSpan is one find, as hodl redact --spans writes it.
type foundSpan struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Type  string `json:"type"`
	Rule  string `json:"rule"`
}

func (r *redaction) spansOf(in io.Reader, out io.Writer, p *redact.Policy, kind detect.Kind) error {
	n := 0
	encoder := json.NewEncoder(out)
	return eachLine(in, func(line []byte) error {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		var text struct {
			ID   json.RawMessage `json:"id"`
			Text *string         `json:"text"`
		}
		if err := json.Unmarshal(line, &text); err != nil {
			return fmt.Errorf("line %d is no object with id and text: %w", n, err)
		}
		if text.Text == nil {
			return fmt.Errorf("line %d has no text", n)
		}
		found := p.Spans(*text.Text, kind)
		r.found = r.found || len(found) > 0
		spans := make([]foundSpan, len(found))
		for i, s := range found {
			spans[i] = foundSpan{s.Start, s.End, s.Rule.Type, s.Rule.ID}
		}
		return encoder.Encode(struct {
			ID    json.RawMessage `json:"id"`
			Spans []foundSpan     `json:"spans"`
		}{text.ID, spans})
	})
}

// eachLine calls f with each line of in, its end included.
func eachLine(in io.Reader, f func([]byte) error) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := f(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
