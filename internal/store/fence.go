package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"hodl"
	"hodl/internal/seal"
)

// What is sealed is sealed before the writer sees it, by a server that remembers which
// data key is current. Between sealing and saving that key may be retired, by another
// server or by hodl seal rotate. So each write tells the keys of what it saves, and in
// its transaction they are looked at again, locked against being retired: once a key
// is, nothing new is ever saved under it, however slow a server was. It seals anew
// with the next.

// A dataKeyRef names a version of a workspace's data key.
type dataKeyRef struct {
	ws      hodl.WorkspaceID
	version uint32
}

func (k dataKeyRef) compare(o dataKeyRef) int {
	return cmp.Or(cmp.Compare(k.ws, o.ws), cmp.Compare(k.version, o.version))
}

// sealedWith names the keys of sealed values; nil is none.
func sealedWith(ws hodl.WorkspaceID, values ...[]byte) []dataKeyRef {
	var out []dataKeyRef
	for _, v := range values {
		if v != nil {
			out = append(out, dataKeyRef{ws, seal.VersionOf(v)})
		}
	}
	return out
}

var errRetired = errors.New("the key it was sealed with was retired meanwhile")

// refuseRetired refuses what was sealed with a key that seals no more, or is gone.
func (r *rows) refuseRetired(keys []dataKeyRef) error {
	for _, k := range keys {
		if !r.dataKeys[k] {
			return unavailable(errRetired, "the data key was replaced meanwhile")
		}
	}
	return nil
}

func (r *rows) takeDataKey(row scanner) error {
	var k dataKeyRef
	var version, retired int64
	err := row.Scan(&k.ws, &version, &retired)
	k.version = uint32(version)
	r.dataKeys[k] = retired == 0
	return err
}

// claimDataKey is the same for a rare write: the key stays as it is until the
// transaction ends.
func (s *Store) claimDataKey(ctx context.Context, tx *sql.Tx, k dataKeyRef) error {
	query := `select retired_at from data_keys where workspace = $1 and version = $2`
	if s.Engine() == "postgres" {
		query += ` for share`
	}
	var retired int64
	there, err := found(tx.QueryRowContext(ctx, query, k.ws, int64(k.version)).Scan(&retired))
	if err == nil && (!there || retired > 0) {
		err = unavailable(errRetired, "the data key was replaced meanwhile")
	}
	return err
}

// mostSealings is how often something is sealed anew before it is given up: nobody
// rotates as fast as that.
const mostSealings = 10

// submit builds a write that holds sealed values and hands it to the writer, under an
// idempotency key with its answer; when a key was retired before it was saved, it is
// built anew.
func (s *Store) submit(ctx context.Context, build func() (*write, error)) error {
	var err error
	for range mostSealings {
		x, buildErr := build()
		if buildErr != nil {
			return buildErr
		}
		x, verdict, keepErr := s.keeping(ctx, x)
		if keepErr != nil {
			return keepErr
		}
		if err = verdict(s.writer.do(ctx, x)); !errors.Is(err, errRetired) {
			return err
		}
		for _, k := range x.seals {
			s.ring.Forget(k.ws)
		}
	}
	return err
}
