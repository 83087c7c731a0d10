package redact

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"

	"hodl"
	"hodl/internal/detect"
)

// A Memory keeps where something was found in texts, so that a text that did not
// change is not looked through again. It holds no text: a text is known by 128 bits of
// two hashes under keys that are drawn when the program starts and never leave it, by
// its length and its workspace, so that no workspace learns by the clock what another
// holds. What was found depends on nothing but the text and the rules of this program;
// what of it goes is decided anew each time. It is safe for concurrent use; the nil
// Memory keeps nothing.
type Memory struct {
	seeds [2]maphash.Seed
	slots []atomic.Pointer[reading] // as many as a power of two; a newer reading takes the place of an older
}

// A reading is what was found in a text.
type reading struct {
	hash  [2]uint64 // the workspace is in the first
	form  uint64    // length, kind, whether it may be a document
	marks marks
	spans []detect.Span
}

const (
	worthKeeping = 24 // bytes: a shorter text takes no longer to look through
	mostKept     = 40 // spans of a text
	readingBytes = 1 << 10
)

// NewMemory returns a Memory of at most so many bytes.
func NewMemory(bytes int) *Memory {
	slots := 1 << (bits.Len(uint(max(bytes, 2*readingBytes)/readingBytes)) - 1)
	return &Memory{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		slots: make([]atomic.Pointer[reading], slots),
	}
}

// Apply is [Policy.Apply] for a version of a session of a workspace: what it finds in a
// text is kept, and what was kept is not looked for; values that have numbers keep them.
func (m *Memory) Apply(p *Policy, ws hodl.WorkspaceID, session hodl.Session, content hodl.Content, h History) (Redacted, error) {
	return p.apply(m.of(ws), session, content, h)
}

// recall is the memory of a workspace.
type recall struct {
	*Memory
	workspace uint64 // its hash
}

func (m *Memory) of(ws hodl.WorkspaceID) recall {
	if m == nil {
		return recall{}
	}
	return recall{m, maphash.String(m.seeds[0], string(ws))}
}

// scan appends what is found in a field, and sets its marks.
func (m recall) scan(spans []detect.Span, f *field) []detect.Span {
	text := *f.text
	if f.windows != nil {
		f.marks = marksOf(text)
		return append(spans, scanWindows(text, f)...)
	}
	if m.Memory == nil || len(text) < worthKeeping {
		f.marks = marksOf(text)
		return look(spans, text, f)
	}
	r := reading{hash: [2]uint64{maphash.String(m.seeds[0], text) ^ m.workspace, maphash.String(m.seeds[1], text)}, form: uint64(len(text))<<8 | uint64(f.kind)<<1}
	if f.document {
		r.form++
	}
	slot := &m.slots[r.hash[0]&uint64(len(m.slots)-1)]
	if kept := slot.Load(); kept != nil && kept.hash == r.hash && kept.form == r.form {
		f.marks = kept.marks
		return append(spans, kept.spans...)
	}
	from := len(spans)
	f.marks = marksOf(text)
	if spans = look(spans, text, f); len(spans)-from <= mostKept {
		slot.Store(&reading{r.hash, r.form, f.marks, append([]detect.Span(nil), spans[from:]...)})
	}
	return spans
}

func look(spans []detect.Span, text string, f *field) []detect.Span {
	if f.document {
		return detect.ScanDocument(spans, text, f.kind)
	}
	return detect.Scan(spans, text, f.kind, "")
}

// marks tells which characters stand in a text that decide what else is to be looked
// for: a text that was looked through before is not read for them.
type marks uint8

const (
	percent   marks = 1 << iota // something may be percent-encoded,
	plus                        // or encoded as in a form
	escape                      // or quoted
	underline                   // it may hold what looks like a placeholder
)

func marksOf(text string) (m marks) {
	for i, c := range [...]byte{'%', '+', '\\', '_'} {
		if strings.IndexByte(text, c) >= 0 {
			m |= 1 << i
		}
	}
	return m
}
