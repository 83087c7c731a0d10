package ledger

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Checkpoint is what a log says of itself (c2sp.org/tlog-checkpoint): so many
// entries, under this root.
type Checkpoint struct {
	Origin string // the log's name, unique in the world
	Size   int64
	Root   Hash
}

// Body is the text that is signed.
func (c Checkpoint) Body() string {
	return c.Origin + "\n" + strconv.FormatInt(c.Size, 10) + "\n" + c.Root.String() + "\n"
}

// parseBody reads the signed text. Lines behind the third are extensions.
func parseBody(text string) (Checkpoint, error) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 || lines[0] == "" {
		return Checkpoint{}, errors.New("the checkpoint is not three lines: origin, size, root")
	}
	c := Checkpoint{Origin: lines[0]}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return c, fmt.Errorf("the checkpoint's size is %.32q", lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != len(c.Root) {
		return c, fmt.Errorf("the checkpoint's root is %.64q", lines[2])
	}
	c.Size, c.Root = size, Hash(root)
	return c, nil
}

// A Verifier knows the name and the key of one who signs checkpoints.
type Verifier = note.Verifier

// ParseVerifier reads a verifier key, such as a log publishes
// (c2sp.org/signed-note): an Ed25519 key of a log, or of a witness.
func ParseVerifier(vkey string) (Verifier, error) {
	if v, err := note.NewVerifier(vkey); err == nil {
		return v, nil
	}
	return newCosignatureVerifier(vkey)
}

// VerifierKey is the verifier key of the log that is named origin and signed with
// public: a log signs under its own name.
func VerifierKey(origin string, public ed25519.PublicKey) string {
	key := append([]byte{algEd25519}, public...)
	return fmt.Sprintf("%s+%08x+%s", origin, keyHash(origin, algEd25519, public), base64.StdEncoding.EncodeToString(key))
}

// Signature types of c2sp.org/signed-note.
const (
	algEd25519     = 1
	algCosignature = 4
)

func keyHash(name string, alg byte, public []byte) uint32 {
	h := sha256.New()
	h.Write([]byte(name + "\n"))
	h.Write(append([]byte{alg}, public...))
	sum := h.Sum(nil)
	return binary.BigEndian.Uint32(sum)
}

// SignatureSize is how long a signature of one key is, with the hash of the key.
const SignatureSize = 4 + ed25519.SignatureSize

// Sign returns the signatures of keys on a checkpoint, one behind the other:
// [SignatureSize] bytes each. The name of the signer is the origin.
func (c Checkpoint) Sign(keys ...ed25519.PrivateKey) []byte {
	out := make([]byte, 0, len(keys)*SignatureSize)
	body := []byte(c.Body())
	for _, k := range keys {
		hash := keyHash(c.Origin, algEd25519, k.Public().(ed25519.PublicKey))
		out = binary.BigEndian.AppendUint32(out, hash)
		out = append(out, ed25519.Sign(k, body)...)
	}
	return out
}

// SignedWith reports whether signatures are those of keys, by the look of them.
func SignedWith(origin string, signatures []byte, keys []ed25519.PrivateKey) bool {
	if len(signatures) != len(keys)*SignatureSize {
		return false
	}
	for i, k := range keys {
		if binary.BigEndian.Uint32(signatures[i*SignatureSize:]) != keyHash(origin, algEd25519, k.Public().(ed25519.PublicKey)) {
			return false
		}
	}
	return true
}

// Note is the signed checkpoint as it is published (c2sp.org/signed-note), with the
// signatures that Sign returned.
func (c Checkpoint) Note(signatures []byte) string {
	var b strings.Builder
	b.WriteString(c.Body())
	b.WriteString("\n")
	for ; len(signatures) >= SignatureSize; signatures = signatures[SignatureSize:] {
		b.WriteString("— " + c.Origin + " " + base64.StdEncoding.EncodeToString(signatures[:SignatureSize]) + "\n")
	}
	return b.String()
}

// OpenCheckpoint reads a signed checkpoint of the log that the first verifier is
// of. At least one of the verifiers must have signed it; signatures of others are
// passed over.
func OpenCheckpoint(text string, verifiers ...Verifier) (Checkpoint, error) {
	if len(verifiers) == 0 {
		return Checkpoint{}, errors.New("no verifier key")
	}
	n, err := note.Open([]byte(text), note.VerifierList(verifiers...))
	if err != nil {
		if _, unverified := errors.AsType[*note.UnverifiedNoteError](err); unverified {
			return Checkpoint{}, fmt.Errorf("the checkpoint is not signed with the key of %s", verifiers[0].Name())
		}
		return Checkpoint{}, fmt.Errorf("the checkpoint: %w", err)
	}
	c, err := parseBody(n.Text)
	if err != nil {
		return c, err
	}
	for _, s := range n.Sigs {
		if s.Name == c.Origin {
			return c, nil
		}
	}
	return c, fmt.Errorf("the checkpoint is of the log %.256q and is signed by another", c.Origin)
}

// PeekCheckpoint reads a checkpoint without believing it.
func PeekCheckpoint(text string) (Checkpoint, error) {
	body, _, found := strings.Cut(text, "\n\n")
	if !found {
		return Checkpoint{}, errors.New("the checkpoint carries no signature")
	}
	return parseBody(body + "\n")
}
