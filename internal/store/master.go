package store

import (
	"context"
	"database/sql"
	"errors"

	"hodl"
	"hodl/internal/seal"
)

// What is wrapped under the master key is guarded as what is sealed with a data key
// is: once a master key is retired, nothing new is wrapped under it, whatever a server
// still remembers of its file. It reads the file again.

var errMasterRetired = errors.New("the master key was retired meanwhile")

// underMaster runs a rare write that wraps something under the current master key.
func (s *Store) underMaster(ctx context.Context, ws hodl.WorkspaceID, run func(*sql.Tx) error) error {
	try := func() error {
		return s.change(ctx, ws, func(tx *sql.Tx) error {
			if err := s.claimMaster(ctx, tx); err != nil {
				return err
			}
			return run(tx)
		})
	}
	id := s.master.ID()
	err := try()
	if !errors.Is(err, errMasterRetired) {
		return err
	}
	if err := s.master.Reload(); err != nil {
		return err
	}
	if s.master.ID() == id {
		return hodl.Errorf(hodl.Unavailable, "master key %s was retired: the key it was rotated to must stand first in the master key file", id).
			WithHint("copy the master key file of the machine on which hodl seal rotate --master ran")
	}
	return try()
}

// claimMaster refuses to go on under a master key that was retired, and keeps it from
// being retired before the transaction ends.
func (s *Store) claimMaster(ctx context.Context, tx *sql.Tx) error {
	id := s.master.ID()
	if _, err := tx.ExecContext(ctx, `insert into master_keys (id) values ($1) on conflict (id) do nothing`, id); err != nil {
		return err
	}
	query := `select retired_at from master_keys where id = $1`
	if s.Engine() == "postgres" {
		query += ` for share`
	}
	var retired int64
	if err := tx.QueryRowContext(ctx, query, id).Scan(&retired); err != nil {
		return err
	}
	if retired > 0 {
		return errMasterRetired
	}
	return nil
}

// A Rewrapped is what became of the master key.
type Rewrapped struct {
	Keys   int64    // data keys wrapped anew
	Values int64    // values of the server sealed anew
	Unused []string // ids of the master keys of the file that nothing is under any more
}

// RotateMaster wraps everything under the first key of the master key file, and
// retires the others: first so that no server wraps under them again, which makes it
// look into its file. list is every workspace.
func (s *Store) RotateMaster(ctx context.Context, list []hodl.WorkspaceID, step func(keys int64)) (out Rewrapped, err error) {
	if err := s.underMaster(ctx, "", func(tx *sql.Tx) error { return s.retireMasters(ctx, tx) }); err != nil {
		return out, wrap(err, "retire the older master keys")
	}
	for _, ws := range list {
		n, err := s.rewrapKeys(ctx, ws)
		if err != nil {
			return out, wrap(err, "wrap the data keys of %s anew", ws)
		}
		out.Keys += n
		step(out.Keys)
	}
	if out.Values, err = s.resealServer(ctx); err != nil {
		return out, wrap(err, "seal the signing keys anew")
	}
	out.Unused = s.master.IDs()[1:]
	return out, nil
}

// retireMasters retires every master key but the first of the file, those as well that
// no server has used since this was written down.
func (s *Store) retireMasters(ctx context.Context, tx *sql.Tx) error {
	now := micros(s.now())
	for _, id := range s.master.IDs()[1:] {
		if _, err := tx.ExecContext(ctx, `insert into master_keys (id, retired_at) values ($1, $2) on conflict (id) do nothing`, id, now); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `update master_keys set retired_at = $2 where id <> $1 and retired_at = 0`, s.master.ID(), now)
	return err
}

func (s *Store) rewrapKeys(ctx context.Context, ws hodl.WorkspaceID) (n int64, err error) {
	err = s.underMaster(ctx, ws, func(tx *sql.Tx) error {
		n = 0
		keys, err := rowsOf(ctx, tx, func(row *sql.Rows) (DataKey, error) { return scanDataKey(row) }, selectDataKeys, ws)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if seal.MasterOf(k.Wrapped) == s.master.ID() {
				continue
			}
			key, err := s.master.Unwrap(ws, k.Version, k.Wrapped)
			if err != nil {
				return err
			}
			wrapped, err := s.master.Wrap(ws, k.Version, key)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `update data_keys set wrapped = $3 where workspace = $1 and version = $2`, ws, int64(k.Version), wrapped); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// resealServer seals the values of the server itself anew.
func (s *Store) resealServer(ctx context.Context) (n int64, err error) {
	err = s.underMaster(ctx, "", func(tx *sql.Tx) error {
		n = 0
		for _, c := range serverColumns {
			list, err := serverValues(ctx, tx, c)
			if err != nil {
				return err
			}
			for _, v := range list {
				if seal.MasterOf(v.Value) == s.master.ID() {
					continue
				}
				fresh, err := s.resealed(v)
				if err != nil {
					return err
				}
				if _, err := tx.ExecContext(ctx, `update `+c.table+` set `+c.column+` = $2 where `+c.key+` = $1`, v.Object, fresh); err != nil {
					return err
				}
				n++
			}
		}
		return nil
	})
	return n, err
}

func (s *Store) resealed(v SealedValue) ([]byte, error) {
	plain, err := s.ring.OpenServer(v.Purpose, v.Object, v.Value)
	if err != nil {
		return nil, err
	}
	return s.ring.SealServer(v.Purpose, v.Object, plain)
}
