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
	"sync"
	"sync/atomic"

	"hodl/internal/file"
)

const (
	keySize   = 32      // bytes: AES-256
	keyIDSize = 8       // bytes of the SHA-256 of a key
	maxFile   = 1 << 16 // of a master key file: some thousand keys
)

// A Master is the key everything at rest hangs on, and its predecessors: the first
// key of the file seals, all of them open. The file is read at start, and again when
// it has changed and a value wants a key that was not in it: a new key reaches the
// servers that run. [Master.ID] tells which it is; printed, it shows nothing.
type Master struct {
	secret
	held *held
}

// held is what was last read of the file.
type held struct {
	path string
	mu   sync.Mutex                   // of those who read it again
	keys atomic.Pointer[[]*masterKey] // the current one first, never empty
	info os.FileInfo                  // of the file they were read from
}

// A masterKey is one key of the file, as what is derived from it: the key itself
// is not kept.
type masterKey struct {
	id     [keyIDSize]byte
	wrap   cipher.AEAD                        // of data keys
	server func(Purpose) (cipher.AEAD, error) // of values of the server itself
	tag    func(Purpose, []byte) []byte       // of messages of the server itself
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
	keys, info, err := readKeys(f, path)
	if err != nil {
		return nil, err
	}
	m := &Master{held: &held{path: path, info: info}}
	m.held.keys.Store(&keys)
	return m, nil
}

func readKeys(f *os.File, path string) ([]*masterKey, os.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("look at master key file: %w", err)
	}
	if err := checkMode(info, path); err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, nil, fmt.Errorf("read master key file: %w", err)
	}
	keys, err := parseKeys(path, text)
	return keys, info, err
}

// Reload reads the file again if it is another, or was written, since it was last
// read. What was held stays when the file cannot be read.
func (m *Master) Reload() error {
	m.held.mu.Lock()
	defer m.held.mu.Unlock()
	f, err := os.Open(m.held.path)
	if err != nil {
		return fmt.Errorf("open master key file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at master key file: %w", err)
	}
	was := m.held.info
	if os.SameFile(info, was) && info.ModTime().Equal(was.ModTime()) && info.Size() == was.Size() {
		return nil
	}
	keys, info, err := readKeys(f, m.held.path)
	if err != nil {
		return err
	}
	m.held.keys.Store(&keys)
	m.held.info = info
	return nil
}

// checkMode looks at the file that was opened, not at the path, which may have
// changed since.
func checkMode(info os.FileInfo, path string) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("master key file %s is not a regular file", path)
	}
	// Windows has no such bits; access lists guard the file there.
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return fmt.Errorf("master key file %s has mode %04o, so others than its owner can reach the key: run chmod 600 %s, and replace the key if anyone may have read it", path, mode, path)
	}
	return nil
}

func parseKeys(path string, text []byte) (keys []*masterKey, err error) {
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
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read master key file %s: %w", path, err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("master key file %s holds no key", path)
	}
	return keys, nil
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
	tags, err := derive(raw, "hodl/tag/v1")
	if err != nil {
		return nil, err
	}
	key.tag = tagger(tags)
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
	if err := writeDurably(f, path, masterComment+newKeyLine()); err != nil {
		return nil, errors.Join(fmt.Errorf("write master key file: %w", err), os.Remove(path))
	}
	return LoadMaster(path)
}

const masterComment = `# Master key of this hodl server. Whoever has it can read every stored session;
# without it nobody can. Keep a copy apart from the database's backups.
# The first key seals, those below it open what they once sealed: hodl key master --add
# puts a new one above them.
`

func newKeyLine() string {
	var raw [keySize]byte
	_, _ = rand.Read(raw[:]) // never fails: it ends the program instead
	return base64.StdEncoding.EncodeToString(raw[:]) + "\n"
}

// AddMaster puts a new key above those of the master key file at path and returns
// what it then holds. The file is replaced in one step and keeps its owner; it is on
// disk when AddMaster returns.
func AddMaster(path string) (*Master, error) {
	if _, err := LoadMaster(path); err != nil {
		return nil, err
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read master key file: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // its owner's alone
	if err != nil {
		return nil, fmt.Errorf("write master key file: %w", err)
	}
	err = keepOwner(f, path)
	err = errors.Join(err, writeDurably(f, f.Name(), newKeyLine()+string(old)))
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write master key file: %w", err), os.Remove(f.Name()))
	}
	if err := file.SyncFolder(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("write master key file: %w", err)
	}
	return LoadMaster(path)
}

func writeDurably(f *os.File, path, text string) error {
	_, err := f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return file.SyncFolder(filepath.Dir(path))
}

func (m *Master) current() *masterKey { return (*m.held.keys.Load())[0] }

// ID names the current key: the first 8 bytes of its SHA-256, in hex.
func (m *Master) ID() string { return hex.EncodeToString(m.current().id[:]) }

// IDs names every key of the file, the current one first.
func (m *Master) IDs() []string {
	var out []string
	for _, k := range *m.held.keys.Load() {
		out = append(out, hex.EncodeToString(k.id[:]))
	}
	return out
}

// MasterOf names the master key that a wrapped data key, or a value of the server,
// was sealed with, as [Master.ID] does; "" when it is none of those.
func MasterOf(sealed []byte) string {
	const head = 1 + keyIDSize
	if len(sealed) < head || sealed[0] != format {
		return ""
	}
	return hex.EncodeToString(sealed[1:head])
}

// key returns the key of that id, nil when the file does not hold it. One that was
// not there is looked for once more in a file that has changed.
func (m *Master) key(id []byte) *masterKey {
	if k := m.find(id); k != nil {
		return k
	}
	if m.Reload() != nil {
		return nil
	}
	return m.find(id)
}

func (m *Master) find(id []byte) *masterKey {
	for _, k := range *m.held.keys.Load() {
		if bytes.Equal(k.id[:], id) {
			return k
		}
	}
	return nil
}
