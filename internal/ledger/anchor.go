package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// An Anchor is an entry of the global log: the head of one workspace's log, so that
// the workspace recognises it and nobody else does. Key is the log's own; index is
// the place of the entry in the global log.
//
// Tag is a HMAC of key and index, so that no two entries look alike; the head is
// committed to under a salt that is another. Both are functions of what the
// workspace knows: it finds all its entries, and any the server has not told it of.
type Anchor struct {
	Tag, Commitment [32]byte
}

// NewAnchor makes the entry at index for the head c of the log whose key it is.
func NewAnchor(key []byte, index int64, c Checkpoint) Anchor {
	h := sha256.New()
	h.Write([]byte("hodl/head/v1"))
	h.Write(derive(key, "salt", index))
	h.Write([]byte(c.Body()))
	return Anchor{AnchorTag(key, index), [32]byte(h.Sum(nil))}
}

// AnchorTag is the tag that an entry at index has, if it is of the log of key.
func AnchorTag(key []byte, index int64) [32]byte { return [32]byte(derive(key, "tag", index)) }

func derive(key []byte, what string, index int64) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("hodl/" + what + "/v1"))
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(index))) //nolint:gosec // never negative
	return mac.Sum(nil)
}

// Entry is the anchor as an entry of the global log: 64 bytes.
func (a Anchor) Entry() []byte {
	return append(append(make([]byte, 0, 64), a.Tag[:]...), a.Commitment[:]...)
}

// ParseAnchor reads an entry of the global log.
func ParseAnchor(entry []byte) (a Anchor, ok bool) {
	if len(entry) != 64 {
		return a, false
	}
	copy(a.Tag[:], entry)
	copy(a.Commitment[:], entry[32:])
	return a, true
}
