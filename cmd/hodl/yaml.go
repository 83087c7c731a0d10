package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"hodl"
	"hodl/internal/decode"
)

// readStrictly decodes a file of JSON or YAML in which everything must be known, and
// names the path of what is wrong.
func readStrictly(file string, into any) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if text := bytes.TrimLeft(raw, " \t\r\n"); len(text) == 0 || text[0] != '{' || !json.Valid(text) {
		if raw, err = yamlAsJSON(raw); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
	}
	err = decode.Strict(raw, into)
	if bad, ok := errors.AsType[*hodl.Error](err); ok && len(bad.Fields) > 0 {
		at := bad.Fields[0]
		return fmt.Errorf("%s: %s %s", file, at.Path, strings.Replace(at.Message, "of this request", "of such a file", 1))
	}
	return err
}

// yamlAsJSON is one YAML document as JSON: the same names, lists and values.
func yamlAsJSON(raw []byte) ([]byte, error) {
	var v map[string]any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("a name that is no text: %w", err)
	}
	return out, nil
}

// documentIn reads the document of a policy.
func documentIn(file string) (d hodl.PolicyDocument, err error) {
	return d, readStrictly(file, &d)
}
