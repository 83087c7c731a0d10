package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
)

// A policyCase is a text and what a policy makes of it.
type policyCase struct {
	Name   string    `json:"name"`
	Field  string    `json:"field"` // as hodl redact takes it; note when absent
	Text   string    `json:"text"`
	Expect *string   `json:"expect"` // the text as an agent gets it
	Types  *[]string `json:"types"`  // what is found in it, in any order
}

func policyTestCommand(e *env) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "test CASES", Short: "Hold a redaction policy against texts and what must become of them", Args: exactly("CASES"),
		Long: `Applies a policy to the texts of a file, on your own machine, and tells where something
else comes out than is expected. Made for your own checks before a change: the exit code
is 1 when a case fails.

The file is YAML or JSON:

  cases:
    - name: mail
      text: ask ana@nordwind.se
      expect: ask [EMAIL_1]
    - name: link
      field: url
      text: https://example.com/?page=2
      types: []

A case expects a text, the types of what is found, or both.`,
		Example: `  hodl policy test cases.yaml --policy policy.json
  hodl policy test cases.yaml --policy balanced`,
		RunE: func(_ *cobra.Command, args []string) error { return e.policyTest(args[0], name) },
	}
	c.Flags().StringVar(&name, "policy", hodl.DefaultPolicy, "preset, or `FILE` with a policy document")
	return c
}

func (e *env) policyTest(file, name string) error {
	policy, err := policyOf(name)
	if err != nil {
		return err
	}
	var in struct {
		Cases []policyCase `json:"cases"`
	}
	if err := readStrictly(file, &in); err != nil {
		return err
	}
	if len(in.Cases) == 0 {
		return fmt.Errorf("%s: cases is empty; write at least one, as hodl policy test --help shows", file)
	}
	failed := 0
	for i, x := range in.Cases {
		kind, ok := fieldKinds[strings.TrimSpace(orNote(x.Field))]
		switch {
		case !ok:
			return fmt.Errorf("%s: cases[%d].field is %q; use url, title, note, selection, path, branch or tag", file, i, x.Field)
		case x.Expect == nil && x.Types == nil:
			return fmt.Errorf("%s: cases[%d] expects nothing; add expect or types", file, i)
		}
		got, found, err := policy.Text(x.Text, kind)
		if err != nil {
			return err
		}
		if wrong := x.wrong(got, found); wrong != "" {
			failed++
			e.say("FAIL %s (cases[%d])\n%s", x.Name, i, wrong)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases fail", failed, len(in.Cases))
	}
	if len(in.Cases) == 1 {
		return e.printLine("1 case passes")
	}
	return e.printLine(fmt.Sprintf("%d cases pass", len(in.Cases)))
}

func orNote(field string) string {
	if field == "" {
		return "note"
	}
	return field
}

// wrong tells how what came out differs from what is expected, "" when it does not.
func (x *policyCase) wrong(got string, found []hodl.Redaction) (out string) {
	if x.Expect != nil && got != *x.Expect {
		out += lineDiff(*x.Expect, got)
	}
	var types []string
	for _, r := range found {
		types = append(types, r.Type)
	}
	slices.Sort(types)
	types = slices.Compact(types)
	if x.Types != nil {
		if want := slices.Sorted(slices.Values(*x.Types)); !slices.Equal(types, want) {
			out += fmt.Sprintf("- types %s\n+ types %s\n", strings.Join(want, " "), strings.Join(types, " "))
		}
	}
	return out
}
