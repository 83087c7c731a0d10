package query

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"

	"hodl"
)

// MaxWords is how many words of a hodl are searched, and MaxRepeats how often one of
// them counts: PostgreSQL keeps no more places, and both engines find the same.
const (
	MaxWords   = 16000
	MaxRepeats = 255
)

// Blank stands for a word that is not searched. No query holds it.
const Blank = "_"

// A Document is a hodl as an index takes it.
type Document struct {
	Keys  []string         // what it is, beside its words; no word looks like one
	Words [Fields][]string // in order, by field: URL, Repository, File, Text
}

// Index returns the document of a hodl. The selected text is sealed and not in it.
func Index(h *hodl.Hodl) Document {
	d := Document{Keys: append([]string{SourceKey(h.Source), isKey(kindOf(h))}, tagKeys(h.Tags)...)}
	d.Words[URL-1] = Words(h.URL)
	if l := h.Location; l != nil {
		d.Words[Repository-1], d.Words[File-1] = Words(l.Repository), Words(l.File)
	}
	text := Words(h.Title)
	for _, part := range rest(h) {
		if part != "" {
			text = appendWords(append(text, Blank), part) // no phrase crosses from part to part
		}
	}
	d.Words[Text-1] = text
	d.bound()
	return d
}

// rest is the text of a hodl behind its title.
func rest(h *hodl.Hodl) []string {
	parts := append([]string{}, h.Tags...)
	parts = append(parts, h.Note)
	if h.Location != nil {
		parts = append(parts, h.Location.Branch, h.Location.Commit)
	}
	return parts
}

// bound keeps to the most words and repeats.
func (d *Document) bound() {
	left := MaxWords
	for i, words := range d.Words {
		d.Words[i] = words[:min(left, len(words))]
		left -= len(d.Words[i])
	}
	if MaxWords-left > MaxRepeats && d.mayRepeat() {
		d.blankRepeats()
	}
}

// mayRepeat reports whether some word may come more than MaxRepeats times. It counts
// words in few buckets, which costs less than to count each.
func (d *Document) mayRepeat() bool {
	var buckets [1 << 10]uint16 // no more than MaxWords fall into one
	for _, words := range d.Words {
		for _, w := range words {
			h := uint32(len(w))
			for i := range len(w) {
				h = h*31 + uint32(w[i])
			}
			if h %= uint32(len(buckets)); buckets[h] == MaxRepeats {
				return true
			}
			buckets[h]++
		}
	}
	return false
}

func (d *Document) blankRepeats() {
	seen := map[string]int{}
	for _, words := range d.Words {
		for j, w := range words {
			if seen[w]++; seen[w] > MaxRepeats {
				words[j] = Blank
			}
		}
	}
}

// kinds are what is: asks for, beside deleted.
var kinds = []string{"untagged", "tagged", "code", "page", "note"}

func kindOf(h *hodl.Hodl) string {
	switch {
	case h.Location != nil && h.Location.File != "":
		return "code"
	case h.URL != "":
		return "page"
	}
	return "note"
}

func tagKeys(tags []string) []string {
	if len(tags) == 0 {
		return []string{isKey("untagged")}
	}
	keys := []string{isKey("tagged")}
	for _, t := range tags {
		keys = append(keys, TagKey(t))
	}
	return keys
}

// Keys begin with an underscore, which no word holds.

// TagKey is the key of what carries a tag, whatever its case and accents.
func TagKey(tag string) string { return "_t" + digest(fold(tag)) }

// SourceKey is the key of what came from a source.
func SourceKey(s hodl.Source) string { return "_f" + string(s) }

// OwnerKey is the key of what belongs to one user in one mode of a workspace, so
// that an index that many share is searched for one.
func OwnerKey(ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID) string {
	return "_o" + digest(string(ws)+"/"+string(m)+"/"+string(user))
}

// Own makes the keys of a document its owner's alone, and adds the one of all that is
// the owner's. A tag that many use is then found without a look at theirs.
func (d *Document) Own(owner string) {
	for i, k := range d.Keys {
		d.Keys[i] = owner + k
	}
	d.Keys = append(d.Keys, owner)
}

// Of returns the clauses of a query for what is one owner's: see [Document.Own].
func (q *Query) Of(owner string) []Clause {
	out := []Clause{{{Words: []string{owner}}}}
	for _, c := range q.Clauses {
		own := slices.Clone(c)
		for i, t := range own {
			if strings.HasPrefix(t.Words[0], "_") {
				own[i].Words = []string{owner + t.Words[0]}
			}
		}
		out = append(out, own)
	}
	return out
}

func isKey(kind string) string { return "_i" + kind }

var letters = base32.HexEncoding.WithPadding(base32.NoPadding)

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return strings.ToLower(letters.EncodeToString(sum[:10]))
}
