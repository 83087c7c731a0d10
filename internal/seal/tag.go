package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
)

// Tag authenticates a message for a purpose of the server itself: 32 bytes that only
// a holder of the master key can make (HMAC-SHA-256). What it tags need not be kept.
func (m *Master) Tag(purpose Purpose, message []byte) []byte {
	return m.current().tag(purpose, message)
}

// Tagged reports whether tag is the beginning of what Tag returned, at least 16
// bytes of it, under any key of the master key file: while the key is being rotated,
// servers know each other's tags.
func (m *Master) Tagged(purpose Purpose, message, tag []byte) bool {
	const least = 16
	if len(tag) < least || len(tag) > sha256.Size {
		return false
	}
	by := func(k *masterKey) bool { return hmac.Equal(tag, k.tag(purpose, message)[:len(tag)]) }
	return slices.ContainsFunc(*m.held.keys.Load(), by) ||
		m.Reload() == nil && slices.ContainsFunc(*m.held.keys.Load(), by)
}

// tagger keeps the key from which tags are made in a closure, as a masterKey keeps
// all it is made of.
func tagger(key []byte) func(Purpose, []byte) []byte {
	return func(p Purpose, message []byte) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write(bind(nil, "hodl/tag/v1", string(p), string(message)))
		return mac.Sum(nil)
	}
}
