package redact

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"

	"hodl"
)

// Numbers are the numbers that values of a session were given, by label: the value with
// the number n has its hash at n-1, and 0 stands for a number that is not given again.
// The hashes are keyed by the session's salt, and tell nothing without it.
type Numbers = map[string][]uint64

// mostNumbers is how many values of a session keep their numbers, those that came first.
const mostNumbers = 4096

// A History is what the numbers of a version depend on besides its content.
type History struct {
	Salt    []byte // of the session; it never leaves the server
	Numbers Numbers
}

// history is a History made ready to be asked. The nil history knows nothing.
type history struct {
	numbers Numbers
	of      map[uint64]int
	mac     hash.Hash
}

func newHistory(h History) *history {
	if len(h.Numbers) == 0 {
		return nil
	}
	x := &history{h.Numbers, map[uint64]int{}, hmac.New(sha256.New, h.Salt)}
	for _, list := range h.Numbers {
		for i, sum := range list {
			if sum != 0 {
				x.of[sum] = i + 1
			}
		}
	}
	return x
}

// number returns the number of a value, 0 when it has none.
func (h *history) number(v removed) int {
	if h == nil {
		return 0
	}
	return h.of[v.sum(h.mac)]
}

// last returns the highest number of a label that was ever given.
func (h *history) last(label string) int {
	if h == nil {
		return 0
	}
	return len(h.numbers[label])
}

// sum is the keyed hash of a value and its label, never 0.
func (v removed) sum(mac hash.Hash) uint64 {
	mac.Reset()
	mac.Write([]byte("placeholder\x00" + v.label + "\x00" + v.text))
	return max(binary.BigEndian.Uint64(mac.Sum(nil)), 1)
}

// Number returns the numbers that hold after a version: those its values have, and those
// that earlier versions gave. They do not depend on what of it a policy lets out; only
// what a workspace's own words and patterns find is numbered by p, its current policy.
// The hashes are keyed by salt. Under another salt than before, numbers of values that
// are gone are given to none.
func (m *Memory) Number(p *Policy, ws hodl.WorkspaceID, content hodl.Content, h History, salt []byte) (numbers Numbers, err error) {
	defer func() {
		if recover() != nil {
			numbers, err = nil, errFailed()
		}
	}()
	content = copyContent(content)
	j := newJob(p.layers, contentFields(&content))
	defer func() { freeFields(j.fields); j.free() }()
	j.memory, j.numbers.history = m.of(ws), newHistory(h)
	if len(j.layers) == 0 {
		j.number()
	} else if err := j.run(); err != nil {
		return nil, err
	}
	return j.numbers.after(h, salt), nil
}

// after returns the numbers that hold after this version.
func (n *numbering) after(h History, salt []byte) Numbers {
	out, room := Numbers{}, mostNumbers
	same := bytes.Equal(salt, h.Salt)
	for label, list := range h.Numbers {
		room -= len(list)
		out[label] = make([]uint64, len(list))
		if same {
			copy(out[label], list)
		}
	}
	mac := hmac.New(sha256.New, salt)
	for _, v := range slices.SortedFunc(maps.Keys(n.given), n.byNumber) {
		list, number := out[v.label], n.given[v].number
		if more := number - len(list); more > 0 {
			if room -= more; room < 0 {
				break
			}
			list = append(list, make([]uint64, more)...)
		}
		if was := n.history.number(v); same && was > 0 {
			list[was-1] = 0 // another number may stand for it now
		}
		list[number-1], out[v.label] = v.sum(mac), list
	}
	return out
}

// byNumber orders values by their labels and numbers.
func (n *numbering) byNumber(a, b removed) int {
	return cmp.Or(cmp.Compare(a.label, b.label), n.given[a].number-n.given[b].number)
}
