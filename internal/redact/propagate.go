package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"

	"hodl/internal/detect"
)

// propagate removes what was found in one field from all others, also where nothing
// tells what it is, and in the forms it may stand there: as it is, percent-encoded,
// in JSON, in base64. It returns the fields that have something to remove.
func (j *job) propagate(found []int) []int {
	if !slices.ContainsFunc(found, func(i int) bool { return len(j.fields[i].spans) > 0 }) {
		return nil
	}
	n := needlesFor(j.fields)
	defer n.free()
	for _, i := range found {
		f := &j.fields[i]
		for _, s := range f.spans {
			n.add((*f.text)[s.Start:s.End], s.Rule)
		}
	}
	n.index()
	out := found[:0]
	for i := range j.fields {
		f := &j.fields[i]
		if n.spans = n.find(n.spans[:0], *f.text); len(n.spans) > 0 && !j.passes(f) {
			f.spans = detect.Resolve(append(f.spans, n.spans...))
		}
		if len(f.spans) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// passes reports whether every layer lets the field pass unread.
func (j *job) passes(f *field) bool {
	for _, l := range j.layers {
		if !l.keeps(f) {
			return false
		}
	}
	return true
}

// needles are texts looked for all at once. The last bytes of each give heads of four
// bytes, one more than places of a text are passed over from look to look. Ends tell
// values apart better than beginnings, which tokens of a kind share. A filter over the
// hashes of heads refuses nearly all places.
type needles struct {
	forms   marks  // of all fields: other encodings are not worth a needle
	padded  []byte // memory of [needles.inBase64]
	coded   []byte // the forms in base64, one after the other
	list    []needle
	step    int
	spans   []detect.Span
	heads   []needleHead // 0 is none
	buckets [1 << 11]int32
	alike   [1 << 11]uint8 // how many heads are in a bucket
	filter  [1 << 14 / 64]uint64
}

type needle struct {
	text string
	rule *detect.Rule
	word bool // only as a whole word
	from int  // where in the coded forms the text stands, once there are all
	to   int
}

// A needleHead is one of those of a needle, in the chain of its bucket.
type needleHead struct{ needle, shift, next int32 }

var needlePool = sync.Pool{New: func() any { return new(needles) }}

func needlesFor(fields []field) *needles {
	n := needlePool.Get().(*needles)
	n.heads = append(n.heads[:0], needleHead{})
	for i := range fields {
		n.forms |= fields[i].marks
	}
	return n
}

// free forgets the values and keeps the memory.
func (n *needles) free() {
	clear(n.list)
	clear(n.padded)
	clear(n.coded)
	n.coded, n.list, n.forms = n.coded[:0], n.list[:0], 0
	clear(n.buckets[:])
	clear(n.alike[:])
	clear(n.filter[:])
	needlePool.Put(n)
}

const (
	shortestSecret = 6
	shortestData   = 5
	longestNeedle  = 2 << 10
)

func (n *needles) add(v string, r *detect.Rule) {
	secret := r.Class() == detect.Secret
	if len(v) < shortestData || secret && len(v) < shortestSecret || len(v) > longestNeedle || detect.IsPlaceholder(v) {
		return
	}
	n.put(v, r, !secret)
	if unreserved(v) {
		n.encoded(v, r, secret)
		return
	}
	if strings.IndexByte(v, '%') >= 0 {
		if u, err := url.PathUnescape(v); err == nil && u != v && len(u) >= shortestData {
			n.put(u, r, !secret)
			v = u
		}
	}
	if n.forms&(percent|plus) != 0 {
		n.form(v, url.QueryEscape(v), r, !secret)
		n.form(v, url.PathEscape(v), r, !secret)
	}
	if n.forms&escape != 0 {
		n.form(v, quoted(v), r, !secret)
	}
	n.encoded(v, r, secret)
}

func (n *needles) form(v, form string, r *detect.Rule, word bool) {
	if form != v && len(form) <= longestNeedle {
		n.put(form, r, word)
	}
}

// encoded adds the forms of a secret in base64.
func (n *needles) encoded(v string, r *detect.Rule, secret bool) {
	if secret && len(v) >= 8 {
		n.inBase64(v, r)
	}
}

// unreserved reports whether v is the same in an address and in JSON.
func unreserved(v string) bool {
	for i := range len(v) {
		if !isWord(v[i]) && v[i] != '-' && v[i] != '_' && v[i] != '.' || v[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Values beyond these are removed where they are found, and not looked for
// elsewhere: what a page holds must not decide how long a hydration takes.
const (
	mostNeedles = 8192
	mostAlike   = 64 // in one bucket, and a few
)

func quoted(v string) string {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return string(b[1 : len(b)-1])
}

// inBase64 adds what of the base64 of a text that holds v depends on v alone, for
// each of the three places it may start at.
func (n *needles) inBase64(v string, r *detect.Rule) {
	n.padded = append(append(n.padded[:0], 0, 0), v...)
	for shift := range 3 {
		raw := n.padded[2-shift:]
		from, to := [...]int{0, 2, 3}[shift], len(raw)/3*4
		if to-from < 10 {
			continue
		}
		at := len(n.coded)
		n.coded = base64.RawStdEncoding.AppendEncode(n.coded, raw)
		n.list = append(n.list, needle{rule: r, from: at + from, to: at + to})
		if form := n.coded[at+from : at+to]; bytes.IndexByte(form, '+') >= 0 || bytes.IndexByte(form, '/') >= 0 {
			at = len(n.coded)
			n.coded = base64.RawURLEncoding.AppendEncode(n.coded, raw)
			n.list = append(n.list, needle{rule: r, from: at + from, to: at + to})
		}
	}
}

func (n *needles) put(v string, r *detect.Rule, word bool) {
	n.list = append(n.list, needle{text: v, rule: r, word: word})
}

// index makes what was added ready to be looked for.
func (n *needles) index() {
	n.list = n.list[:min(len(n.list), mostNeedles)]
	coded := string(n.coded)
	n.step = 8
	for i := range n.list {
		d := &n.list[i]
		if d.to > 0 {
			d.text = coded[d.from:d.to]
		}
		n.step = min(n.step, len(d.text)-3)
	}
	for i := range n.list {
		n.enter(int32(i), n.list[i].text)
	}
}

// enter puts the heads of a needle in their chains, unless it stands there already.
func (n *needles) enter(at int32, v string) {
	first := len(v) - 3 - n.step
	for e := n.buckets[mix(head(v[first:]))>>3]; e != 0; e = n.heads[e].next {
		if n.list[n.heads[e].needle].text == v {
			return
		}
	}
	for shift := first; shift < first+n.step; shift++ {
		if n.alike[mix(head(v[shift:]))>>3] >= mostAlike {
			return
		}
	}
	for shift := first; shift < first+n.step; shift++ {
		bit := mix(head(v[shift:]))
		n.filter[bit/64] |= 1 << (bit % 64)
		n.heads = append(n.heads, needleHead{at, int32(shift), n.buckets[bit>>3]})
		n.buckets[bit>>3] = int32(len(n.heads) - 1)
		n.alike[bit>>3]++
	}
}

func head(v string) uint32 {
	return uint32(v[0]) | uint32(v[1])<<8 | uint32(v[2])<<16 | uint32(v[3])<<24
}

func mix(h uint32) uint32 { return h * 2654435761 >> 18 }

func (n *needles) find(spans []detect.Span, text string) []detect.Span {
	for i := 0; i+4 <= len(text); i += n.step {
		bit := mix(head(text[i:]))
		if n.filter[bit/64]&(1<<(bit%64)) == 0 {
			continue
		}
		for e := n.buckets[bit>>3]; e != 0; e = n.heads[e].next {
			d := &n.list[n.heads[e].needle]
			at := i - int(n.heads[e].shift)
			if at >= 0 && strings.HasPrefix(text[at:], d.text) && (!d.word || wholeWord(text, at, at+len(d.text))) {
				spans = append(spans, detect.Span{Start: at, End: at + len(d.text), Rule: d.rule})
			}
		}
	}
	return spans
}

func wholeWord(text string, start, end int) bool {
	return (start == 0 || !isWord(text[start-1]) || !isWord(text[start])) && (end == len(text) || !isWord(text[end]) || !isWord(text[end-1]))
}

func isWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c >= 0x80
}
