package seal

import (
	"context"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"sync"

	"hodl"
)

// DataKeys loads the wrapped data keys of workspaces, as [Master.Wrap] made
// them. Making a workspace stores version 1 of its key in the same transaction.
type DataKeys interface {
	// DataKey returns a version of a workspace's wrapped key.
	DataKey(ctx context.Context, workspace hodl.WorkspaceID, version uint32) (wrapped []byte, err error)
	// CurrentDataKey returns the version that new values are sealed with.
	CurrentDataKey(ctx context.Context, workspace hodl.WorkspaceID) (version uint32, err error)
}

// most is how many keys of each sort a Ring remembers, at about 1 KiB each.
// Beyond it the Ring forgets all and starts over.
const most = 16 << 10

// A Ring seals and opens values. It remembers the keys it has used and is safe
// for concurrent use.
type Ring struct {
	secret
	master *Master
	loader DataKeys

	mu      sync.RWMutex
	forgot  uint64 // how often Forget was called: what was loaded before is not kept after
	current map[hodl.WorkspaceID]uint32
	keys    map[keyName]cipher.AEAD
}

type keyName struct {
	workspace hodl.WorkspaceID
	version   uint32
	purpose   Purpose
}

// NewRing returns a Ring over the wrapped keys that loader finds. A nil loader
// does for [Ring.SealServer] and [Ring.OpenServer].
func NewRing(master *Master, loader DataKeys) *Ring {
	r := &Ring{master: master, loader: loader}
	r.forgetAll()
	return r
}

// Seal encrypts plaintext as the object of a purpose in a workspace:
// format byte | data key version (4) | nonce | ciphertext | tag. The object is
// any string the caller can name again on opening, such as
// live/ses_1/fingerprint.
func (r *Ring) Seal(ctx context.Context, workspace hodl.WorkspaceID, purpose Purpose, object string, plaintext []byte) ([]byte, error) {
	version, err := r.version(ctx, workspace)
	if err != nil {
		return nil, fmt.Errorf("seal %s of %s: %w", purpose, workspace, err)
	}
	key, err := r.key(ctx, keyName{workspace, version, purpose})
	if err != nil {
		return nil, fmt.Errorf("seal %s of %s: %w", purpose, workspace, err)
	}
	out := make([]byte, 0, valueHead+len(plaintext)+extra)
	out = binary.BigEndian.AppendUint32(append(out, format), version)
	return key.Seal(out, nil, plaintext, valueBinding(out, workspace, purpose, object)), nil
}

// Open decrypts what [Ring.Seal] returned for the same workspace, purpose and
// object. The error is [ErrCorrupt], [ErrWrongMaster] or the loader's own.
func (r *Ring) Open(ctx context.Context, workspace hodl.WorkspaceID, purpose Purpose, object string, sealed []byte) ([]byte, error) {
	if len(sealed) < valueHead+extra || sealed[0] != format {
		return nil, fmt.Errorf("open %s of %s: %w", purpose, workspace, ErrCorrupt)
	}
	head := sealed[:valueHead]
	key, err := r.key(ctx, keyName{workspace, binary.BigEndian.Uint32(head[1:]), purpose})
	if err != nil {
		return nil, fmt.Errorf("open %s of %s: %w", purpose, workspace, err)
	}
	plaintext, err := key.Open(nil, nil, sealed[valueHead:], valueBinding(head, workspace, purpose, object))
	if err != nil {
		return nil, fmt.Errorf("open %s of %s: %w", purpose, workspace, ErrCorrupt)
	}
	return plaintext, nil
}

const valueHead = 1 + 4

func valueBinding(head []byte, workspace hodl.WorkspaceID, purpose Purpose, object string) []byte {
	b := make([]byte, 0, 160)
	return bind(b, "hodl/value/v1", string(head), string(purpose), string(workspace), object)
}

// SealServer encrypts a value of the server itself, such as a signing key, under
// a key derived from the master key:
// format byte | master key id (8) | nonce | ciphertext | tag.
func (r *Ring) SealServer(purpose Purpose, object string, plaintext []byte) ([]byte, error) {
	current := r.master.current()
	key, err := current.server(purpose)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", purpose, err)
	}
	head := append([]byte{format}, current.id[:]...)
	return key.Seal(head, nil, plaintext, serverBinding(purpose, object)), nil
}

// OpenServer decrypts what [Ring.SealServer] returned for the same purpose and
// object. The error is [ErrWrongMaster] or [ErrCorrupt].
func (r *Ring) OpenServer(purpose Purpose, object string, sealed []byte) ([]byte, error) {
	master, rest, err := r.master.opener(sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", purpose, err)
	}
	key, err := master.server(purpose)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", purpose, err)
	}
	plaintext, err := key.Open(nil, nil, rest, serverBinding(purpose, object))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", purpose, ErrCorrupt)
	}
	return plaintext, nil
}

func serverBinding(purpose Purpose, object string) []byte {
	return bind(nil, "hodl/server/v1", string(purpose), object)
}

// Forget drops every remembered key of a workspace: after its data key was
// replaced, or destroyed with the workspace.
func (r *Ring) Forget(workspace hodl.WorkspaceID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgot++
	delete(r.current, workspace)
	for name := range r.keys {
		if name.workspace == workspace {
			delete(r.keys, name)
		}
	}
}

func (r *Ring) forgetAll() {
	r.current = map[hodl.WorkspaceID]uint32{}
	r.keys = map[keyName]cipher.AEAD{}
}

// version returns the data key version a workspace seals with. One that another
// process has replaced meanwhile still opens everywhere.
func (r *Ring) version(ctx context.Context, workspace hodl.WorkspaceID) (uint32, error) {
	r.mu.RLock()
	version, known := r.current[workspace]
	forgot := r.forgot
	r.mu.RUnlock()
	if known {
		return version, nil
	}
	version, err := r.loader.CurrentDataKey(ctx, workspace)
	if err != nil {
		return 0, fmt.Errorf("find the current data key: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.current) >= most {
		r.forgetAll()
	}
	if r.forgot == forgot {
		r.current[workspace] = version
	}
	return version, nil
}

// key returns the cipher of a name. Two callers may load the same one at once;
// that costs a read and harms nothing.
func (r *Ring) key(ctx context.Context, name keyName) (cipher.AEAD, error) {
	r.mu.RLock()
	key, known := r.keys[name]
	forgot := r.forgot
	r.mu.RUnlock()
	if known {
		return key, nil
	}
	key, err := r.load(ctx, name)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys) >= most {
		r.forgetAll()
	}
	if r.forgot == forgot {
		r.keys[name] = key
	}
	return key, nil
}

func (r *Ring) load(ctx context.Context, name keyName) (cipher.AEAD, error) {
	wrapped, err := r.loader.DataKey(ctx, name.workspace, name.version)
	if err != nil {
		return nil, fmt.Errorf("load data key %d: %w", name.version, err)
	}
	data, err := r.master.Unwrap(name.workspace, name.version, wrapped)
	if err != nil {
		return nil, err
	}
	raw, err := derive(data.raw(), string(bind(nil, "hodl/purpose/v1", string(name.purpose))))
	if err != nil {
		return nil, err
	}
	return newAEAD(raw)
}
