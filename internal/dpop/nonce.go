package dpop

import (
	"encoding/binary"
	"time"
)

// Nonces makes and knows the nonces of proofs (RFC 9449 §9) without keeping any: a
// nonce is the minute it was made in, and a tag that only holders of the server's
// key can write. All servers of a database hold the same.
type Nonces struct {
	Tag    func(message []byte) []byte
	Tagged func(message, tag []byte) bool
}

const (
	nonceEvery = 60 // seconds that have the same nonce
	nonceLives = 5  // of those, beside the one it was made in
	tagSize    = 16 // bytes of the tag that go into a nonce
)

// New returns the nonce of the moment. Nobody can know a later one, so that no proof
// can be made long before it is used.
func (n Nonces) New(now time.Time) string {
	message := binary.BigEndian.AppendUint64(nil, uint64(now.Unix()/nonceEvery))
	return encoding.EncodeToString(append(message, n.Tag(message)[:tagSize]...))
}

// Fresh reports whether nonce was made by one of the servers, at most five minutes
// ago.
func (n Nonces) Fresh(nonce string, now time.Time) bool {
	raw, err := encoding.DecodeString(nonce)
	if err != nil || len(raw) != 8+tagSize || encoding.EncodeToString(raw) != nonce {
		return false
	}
	minute, at := int64(binary.BigEndian.Uint64(raw)), now.Unix()/nonceEvery
	return at-nonceLives <= minute && minute <= at+1 && n.Tagged(raw[:8], raw[8:])
}
