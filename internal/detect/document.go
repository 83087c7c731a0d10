package detect

import (
	"encoding/json"
	"strings"
)

// ScanDocument is [Scan] for a text that may be one JSON document: then each of its
// strings and long numbers is read decoded, under its key, and spans are offsets
// into the document as it stands. Any other text is scanned as it is.
func ScanDocument(spans []Span, text string, kind Kind) []Span {
	if !IsDocument(text) {
		return Scan(spans, text, kind, "")
	}
	d := document{text: text, kind: kind, spans: spans}
	d.walk()
	return d.spans
}

// IsDocument reports whether text is one JSON document: an object or a list.
func IsDocument(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(text))
}

type document struct {
	text  string
	kind  Kind
	spans []Span
	keys  []string // the key of each level; "" in a list
	name  string   // the value of the last key called name or key, for the value beside it
}

func (d *document) walk() {
	key, isKey := "", false
	for i := 0; i < len(d.text); i++ {
		switch c := d.text[i]; c {
		case '{':
			d.keys, key, isKey, d.name = append(d.keys, key), "", true, ""
		case '[':
			d.keys, isKey = append(d.keys, key), false
		case '}', ']':
			key, d.keys = d.keys[len(d.keys)-1], d.keys[:len(d.keys)-1]
			isKey = false
		case ',':
			isKey = d.inObject(i)
		case ':':
			isKey = false
		case '"':
			end := d.stringEnd(i + 1)
			if isKey {
				key = d.text[i+1 : end]
				d.scan(i+1, end, "", Text)
			} else {
				d.value(i+1, end, key)
			}
			i = end
		default:
			i = d.number(i, key)
		}
	}
}

// number reads the whole number that starts at i, if one of five digits or more
// does, and returns its last place.
func (d *document) number(i int, key string) int {
	end := i
	for end < len(d.text) && is(d.text[end], digit) {
		end++
	}
	if end-i >= 5 && !contains(".-+eE", d.text[i-1]) && (d.text[end] < '.' || d.text[end] == ']' || d.text[end] == '}') {
		d.scan(i, end, key, Text)
	}
	return max(i, end-1)
}

// inObject reports whether the comma at i stands between members: a key follows.
func (d *document) inObject(i int) bool {
	j := i + 1
	for j < len(d.text) && strings.IndexByte(" \t\r\n", d.text[j]) >= 0 {
		j++
	}
	if j >= len(d.text) || d.text[j] != '"' {
		return false
	}
	end := d.stringEnd(j + 1)
	rest := strings.TrimLeft(d.text[end+1:min(len(d.text), end+17)], " \t\r\n")
	return strings.HasPrefix(rest, ":")
}

func (d *document) stringEnd(i int) int {
	for d.text[i] != '"' {
		if d.text[i] == '\\' {
			i++
		}
		i++
	}
	return i
}

func (d *document) value(start, end int, key string) {
	kind := d.kind
	switch key {
	case "url", "href", "uri", "link", "deep_link":
		kind = URL
	}
	name := key
	if l := strings.ToLower(key); l == "value" && d.name != "" {
		name = d.name
	} else if l == "name" || l == "key" || l == "id" {
		d.name = d.text[start:end]
	}
	d.scan(start, end, name, kind)
}

func (d *document) scan(start, end int, name string, kind Kind) {
	raw := d.text[start:end]
	v := view{text: raw}
	if strings.IndexByte(raw, '\\') >= 0 {
		v = viewEscapes(raw)
	}
	n := len(d.spans)
	d.spans = Scan(d.spans, v.text, kind, name)
	for i := n; i < len(d.spans); i++ {
		s := &d.spans[i]
		a, b := v.outer(s.Start, s.End)
		s.Start, s.End = start+a, start+b
	}
}
