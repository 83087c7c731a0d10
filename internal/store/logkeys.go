package store

import (
	"context"
	"database/sql"
	"time"
)

// A LogKey is a key that the server signs checkpoints with. Its public half is kept
// for good: what it signed is verified with it.
type LogKey struct {
	ID         string // SHA-256 of the public half, in hex
	Public     []byte
	Seed       []byte // opened; nil once it no longer signs
	CreatedAt  time.Time
	SignsUntil time.Time // zero while no successor has its turn
}

const (
	purposeLogKey = "log-key"
	selectLogKeys = `select id, public, seed, created_at, signs_until from log_keys order by created_at, id`
)

func scanLogKey(row *sql.Rows) (k LogKey, err error) {
	var created, until int64
	err = row.Scan(&k.ID, &k.Public, &k.Seed, &created, &until)
	k.CreatedAt, k.SignsUntil = timeOf(created), timeOf(until)
	return k, err
}

// LogKeys returns every key that checkpoints were ever signed with, oldest first.
func (s *Store) LogKeys(ctx context.Context) ([]LogKey, error) {
	keys, err := rowsOf(ctx, s.reads, scanLogKey, selectLogKeys)
	if err != nil {
		return nil, wrap(err, "read log keys")
	}
	for i := range keys {
		if keys[i].Seed == nil {
			continue
		}
		if keys[i].Seed, err = s.ring.OpenServer(purposeLogKey, keys[i].ID, keys[i].Seed); err != nil {
			return nil, wrap(err, "open log key %s", keys[i].ID)
		}
	}
	return keys, nil
}

// RotateLogKeys lets plan see the keys with nobody else rotating, and adds the one
// it returns, if any; the others it returns end when they say, and forget their
// seeds once they have. The seeds that plan sees are sealed.
func (s *Store) RotateLogKeys(ctx context.Context, plan func([]LogKey) (add *LogKey, end []LogKey, err error)) error {
	return s.change(ctx, "", func(tx *sql.Tx) error {
		// Every rotating server meets at this row, so that two cannot add a key at once.
		if _, err := tx.ExecContext(ctx, `update installation set id = id`); err != nil {
			return err
		}
		keys, err := rowsOf(ctx, tx, scanLogKey, selectLogKeys)
		if err != nil {
			return err
		}
		add, end, err := plan(keys)
		if err != nil {
			return err
		}
		for _, k := range end {
			if _, err := tx.ExecContext(ctx, `update log_keys set signs_until = $2, seed = case when $2 <= $3 then null else seed end where id = $1`, k.ID, micros(k.SignsUntil), micros(s.now())); err != nil {
				return err
			}
		}
		if add == nil {
			return nil
		}
		sealed, err := s.ring.SealServer(purposeLogKey, add.ID, add.Seed)
		if err != nil {
			return wrap(err, "seal log key")
		}
		_, err = tx.ExecContext(ctx, `insert into log_keys (id, public, seed, created_at, signs_until) values ($1, $2, $3, $4, $5)`,
			add.ID, add.Public, sealed, micros(add.CreatedAt), micros(add.SignsUntil))
		return err
	})
}
