package ledger

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A cosignature (c2sp.org/tlog-cosignature, Ed25519) is what a witness says: that
// at a time this was the largest checkpoint it knew of the log.

func cosigned(body string, at int64) []byte {
	return []byte("cosignature/v1\ntime " + strconv.FormatInt(at, 10) + "\n" + body)
}

// Cosign returns the signature line of the witness of that name.
func (c Checkpoint) Cosign(name string, key ed25519.PrivateKey, at time.Time) string {
	public, _ := key.Public().(ed25519.PublicKey)
	sig := binary.BigEndian.AppendUint32(nil, keyHash(name, algCosignature, public))
	sig = binary.BigEndian.AppendUint64(sig, uint64(at.Unix())) //nolint:gosec // after 1970
	sig = append(sig, ed25519.Sign(key, cosigned(c.Body(), at.Unix()))...)
	return "— " + name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
}

// WitnessKey is the verifier key of a witness.
func WitnessKey(name string, public ed25519.PublicKey) string {
	key := append([]byte{algCosignature}, public...)
	return fmt.Sprintf("%s+%08x+%s", name, keyHash(name, algCosignature, public), base64.StdEncoding.EncodeToString(key))
}

type cosignatureVerifier struct {
	name   string
	hash   uint32
	public ed25519.PublicKey
}

func newCosignatureVerifier(vkey string) (Verifier, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	hash, key, _ := strings.Cut(rest, "+")
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(raw) != 1+ed25519.PublicKeySize || raw[0] != algCosignature || name == "" || strings.ContainsAny(name, " \n") {
		return nil, errors.New("no verifier key: it is <name>+<hash>+<key> (c2sp.org/signed-note)")
	}
	v := &cosignatureVerifier{name, keyHash(name, algCosignature, raw[1:]), raw[1:]}
	if hash != fmt.Sprintf("%08x", v.hash) {
		return nil, errors.New("the verifier key's hash does not fit its name and key")
	}
	return v, nil
}

func (v *cosignatureVerifier) Name() string    { return v.name }
func (v *cosignatureVerifier) KeyHash() uint32 { return v.hash }

func (v *cosignatureVerifier) Verify(msg, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	at := binary.BigEndian.Uint64(sig)
	return at < 1<<62 && ed25519.Verify(v.public, cosigned(string(msg), int64(at)), sig[8:])
}
