// Package seal encrypts what is stored at rest. A master key, kept in a file
// apart from the database, wraps one data key per workspace and version; from a
// data key one key is derived per purpose, and values are sealed with it
// (AES-256-GCM, random nonces). A sealed value opens only as what it was sealed
// as: workspace, purpose and object are bound to it, so that a row moved
// elsewhere in a stolen or tampered database does not open.
//
// A purpose's key may seal 2^32 values before its data key must be replaced by
// the next version (NIST SP 800-38D §8.3).
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"hodl"
)

// Errors that opening can end in, for errors.Is. Neither tells an attacker more
// than that it failed.
var (
	// ErrWrongMaster: the value was sealed under a master key the file does not hold.
	ErrWrongMaster = errors.New("the master key file does not hold the key this was sealed with")
	// ErrCorrupt: the value was changed, cut, or is not the one asked for.
	ErrCorrupt = errors.New("the sealed value is corrupt or belongs elsewhere")
)

// A Purpose separates keys: a value sealed for one purpose does not open for
// another. Purposes are constants of the code, never input.
type Purpose string

const (
	format = 1  // of everything sealed here, its first byte
	extra  = 28 // bytes of nonce and tag
)

// A DataKey is the unwrapped key of a workspace. Printed, it shows nothing, not
// even as a field of another struct, where fmt follows pointers: its bytes lie
// in a closure.
type DataKey struct {
	secret
	raw func() []byte // nil for the zero DataKey
}

func dataKey(raw []byte) DataKey {
	return DataKey{raw: func() []byte { return raw }}
}

// NewDataKey makes a random data key.
func NewDataKey() DataKey {
	raw := make([]byte, keySize)
	_, _ = rand.Read(raw) // never fails: it ends the program instead
	return dataKey(raw)
}

// Wrap encrypts a data key under the current master key, for storage:
// format byte | master key id (8) | nonce | ciphertext | tag. It opens only as
// that version of that workspace's key. The zero DataKey is refused.
func (m *Master) Wrap(workspace hodl.WorkspaceID, version uint32, key DataKey) ([]byte, error) {
	if key.raw == nil {
		return nil, fmt.Errorf("wrap data key %d of %s: there is no key", version, workspace)
	}
	current := m.current()
	head := append([]byte{format}, current.id[:]...)
	return current.wrap.Seal(head, nil, key.raw(), wrapBinding(workspace, version)), nil
}

// Unwrap decrypts what [Master.Wrap] returned, under whichever key of the master
// key file it was wrapped with. The error is [ErrWrongMaster] or [ErrCorrupt].
func (m *Master) Unwrap(workspace hodl.WorkspaceID, version uint32, wrapped []byte) (DataKey, error) {
	key, rest, err := m.opener(wrapped)
	if err != nil {
		return DataKey{}, fmt.Errorf("unwrap data key %d of %s: %w", version, workspace, err)
	}
	raw, err := key.wrap.Open(nil, nil, rest, wrapBinding(workspace, version))
	if err != nil || len(raw) != keySize {
		return DataKey{}, fmt.Errorf("unwrap data key %d of %s: %w", version, workspace, ErrCorrupt)
	}
	return dataKey(raw), nil
}

// VersionOf returns the version of the data key a value was sealed with by [Ring.Seal],
// 0 when it is none. The first [HeadSize] bytes of the value suffice.
func VersionOf(sealed []byte) uint32 {
	if len(sealed) < valueHead || sealed[0] != format {
		return 0
	}
	return binary.BigEndian.Uint32(sealed[1:valueHead])
}

// HeadSize is how many bytes of a sealed value no other has: its head and its nonce.
const HeadSize = valueHead + 12

// opener finds the master key a value names in its head, and what follows it.
func (m *Master) opener(sealed []byte) (*masterKey, []byte, error) {
	const head = 1 + keyIDSize
	if len(sealed) < head+extra || sealed[0] != format {
		return nil, nil, ErrCorrupt
	}
	key := m.key(sealed[1:head])
	if key == nil {
		return nil, nil, fmt.Errorf("%w: it needs key %s, the current one is %s; start with the file that holds it, or add it below the current key", ErrWrongMaster, hex.EncodeToString(sealed[1:head]), m.ID())
	}
	return key, sealed[head:], nil
}

func wrapBinding(workspace hodl.WorkspaceID, version uint32) []byte {
	b := bind(nil, "hodl/dek/v1", string(workspace))
	return binary.BigEndian.AppendUint32(b, version)
}

// bind appends parts to b so that no two lists of parts give the same bytes:
// each part follows its length.
func bind(b []byte, parts ...string) []byte {
	for _, p := range parts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// derive returns the key that secret gives for info (HKDF-SHA-256, RFC 5869).
func derive(secret []byte, info string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, info, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive a key: %w", err)
	}
	return key, nil
}

// newAEAD returns AES-256-GCM that puts a random nonce before what it seals.
func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("prepare a key: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
