package seal

import (
	"bufio"
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	keySize   = 32      // bytes: AES-256
	keyIDSize = 8       // bytes of the SHA-256 of a key
	maxFile   = 1 << 16 // of a master key file: some thousand keys
)

// A Master is the key everything at rest hangs on, and its predecessors: the
// first seals, all of them open. It is read once, at start, and never written
// anywhere. [Master.ID] tells which it is; printed, it shows nothing.
type Master struct {
	secret
	keys []*masterKey // the current one first, never empty
}

// A masterKey is one key of the file, as what is derived from it: the key itself
// is not kept.
type masterKey struct {
	id     [keyIDSize]byte
	wrap   cipher.AEAD                        // of data keys
	server func(Purpose) (cipher.AEAD, error) // of values of the server itself
}

// LoadMaster reads the master key file at path: one base64 key of 32 bytes a
// line, the current one first, older ones below it; empty lines and lines that
// begin with # are skipped. A file that others than its owner may read is
// refused. Errors never show what a line holds.
func LoadMaster(path string) (*Master, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open master key file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if err := checkMode(f, path); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("read master key file: %w", err)
	}
	return parseMaster(path, text)
}

// checkMode looks at the file that was opened, not at the path, which may have
// changed since.
func checkMode(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at master key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("master key file %s is not a regular file", path)
	}
	// Windows has no such bits; access lists guard the file there.
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return fmt.Errorf("master key file %s has mode %04o, so others than its owner can reach the key: run chmod 600 %s, and replace the key if anyone may have read it", path, mode, path)
	}
	return nil
}

func parseMaster(path string, text []byte) (*Master, error) {
	m := &Master{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(raw) != keySize {
			return nil, fmt.Errorf("master key file %s, line %d: must be %d bytes in base64", path, n, keySize)
		}
		key, err := newMasterKey(raw)
		if err != nil {
			return nil, err
		}
		m.keys = append(m.keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read master key file %s: %w", path, err)
	}
	if len(m.keys) == 0 {
		return nil, fmt.Errorf("master key file %s holds no key", path)
	}
	return m, nil
}

func newMasterKey(raw []byte) (*masterKey, error) {
	key := &masterKey{}
	sum := sha256.Sum256(raw)
	copy(key.id[:], sum[:])
	wrap, err := derive(raw, "hodl/dek/v1")
	if err != nil {
		return nil, err
	}
	if key.wrap, err = newAEAD(wrap); err != nil {
		return nil, err
	}
	server, err := derive(raw, "hodl/server/v1")
	if err != nil {
		return nil, err
	}
	key.server = func(p Purpose) (cipher.AEAD, error) {
		raw, err := derive(server, string(bind(nil, "hodl/purpose/v1", string(p))))
		if err != nil {
			return nil, err
		}
		return newAEAD(raw)
	}
	return key, nil
}

// CreateMaster makes a master key file at path with a new key and returns the
// Master it holds. The file is readable by its owner alone and on disk when
// CreateMaster returns. A file that is already there is left alone; the error is
// then fs.ErrExist.
func CreateMaster(path string) (*Master, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create master key file: %w", err)
	}
	var raw [keySize]byte
	_, _ = rand.Read(raw[:]) // never fails: it ends the program instead
	text := masterComment + base64.StdEncoding.EncodeToString(raw[:]) + "\n"
	if err := writeDurably(f, path, text); err != nil {
		return nil, errors.Join(fmt.Errorf("write master key file: %w", err), os.Remove(path))
	}
	return LoadMaster(path)
}

const masterComment = `# Master key of this hodl server. Whoever has it can read every stored session;
# without it nobody can. Keep a copy apart from the database's backups.
# To rotate it, add a new key above the old one and keep the old one below.
`

func writeDurably(f *os.File, path, text string) error {
	_, err := f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // a folder cannot be synced there
		return nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ID names the current key: the first 8 bytes of its SHA-256, in hex.
func (m *Master) ID() string { return hex.EncodeToString(m.keys[0].id[:]) }

// Len is how many keys the file holds.
func (m *Master) Len() int { return len(m.keys) }

// MasterOf names the master key that a wrapped data key, or a value of the server,
// was sealed with, as [Master.ID] does; "" when it is none of those.
func MasterOf(sealed []byte) string {
	const head = 1 + keyIDSize
	if len(sealed) < head || sealed[0] != format {
		return ""
	}
	return hex.EncodeToString(sealed[1:head])
}

// key returns the key of that id, nil when the file does not hold it.
func (m *Master) key(id []byte) *masterKey {
	for _, k := range m.keys {
		if bytes.Equal(k.id[:], id) {
			return k
		}
	}
	return nil
}
