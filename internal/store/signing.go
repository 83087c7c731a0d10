package store

import (
	"context"
	"database/sql"
	"time"

	"hodl/internal/seal"
)

// A SigningKey is a key of the server as it is kept: the private half sealed.
type SigningKey struct {
	KID         string
	Public      []byte
	Seed        []byte // opened
	CreatedAt   time.Time
	SignsFrom   time.Time
	SignsUntil  time.Time // zero while nothing follows it
	ServedUntil time.Time // zero while it signs
}

const (
	purposeSigning    = "signing-key"
	selectSigningKeys = `select kid, public, seed, created_at, signs_from, signs_until, served_until from signing_keys order by created_at, kid`
)

// SigningKeys returns the server's keys, oldest first.
func (s *Store) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	keys, err := rowsOf(ctx, s.reads, scanSigningKey, selectSigningKeys)
	if err != nil {
		return nil, wrap(err, "read signing keys")
	}
	for i := range keys {
		if keys[i].Seed, err = s.ring.OpenServer(purposeSigning, keys[i].KID, keys[i].Seed); err != nil {
			return nil, wrap(err, "open signing key %s", keys[i].KID)
		}
	}
	return keys, nil
}

func scanSigningKey(row *sql.Rows) (SigningKey, error) {
	var k SigningKey
	var created, from, until, served int64
	err := row.Scan(&k.KID, &k.Public, &k.Seed, &created, &from, &until, &served)
	k.CreatedAt, k.SignsFrom, k.SignsUntil, k.ServedUntil = timeOf(created), timeOf(from), timeOf(until), timeOf(served)
	return k, err
}

// A KeyChange is what a rotation does to the keys.
type KeyChange struct {
	Add    *SigningKey
	Update []SigningKey // by KID; only SignsUntil and ServedUntil
	Delete []string     // KIDs
}

// RotateSigningKeys lets plan see the keys, as they stand and with nobody else
// rotating, and makes the change it returns. The seeds it sees are sealed.
func (s *Store) RotateSigningKeys(ctx context.Context, plan func([]SigningKey) (KeyChange, error)) error {
	return s.underMaster(ctx, "", func(tx *sql.Tx) error {
		// Every rotating server meets at this row, so that two cannot add a key at once.
		if _, err := tx.ExecContext(ctx, `update installation set id = id`); err != nil {
			return err
		}
		keys, err := rowsOf(ctx, tx, scanSigningKey, selectSigningKeys)
		if err != nil {
			return err
		}
		c, err := plan(keys)
		if err != nil {
			return err
		}
		for _, k := range c.Update {
			if _, err := tx.ExecContext(ctx, `update signing_keys set signs_until = $2, served_until = $3 where kid = $1`, k.KID, micros(k.SignsUntil), micros(k.ServedUntil)); err != nil {
				return err
			}
		}
		for _, kid := range c.Delete {
			if _, err := tx.ExecContext(ctx, `delete from signing_keys where kid = $1`, kid); err != nil {
				return err
			}
		}
		if c.Add == nil {
			return nil
		}
		return s.addSigningKey(ctx, tx, *c.Add)
	})
}

func (s *Store) addSigningKey(ctx context.Context, tx *sql.Tx, k SigningKey) error {
	sealed, err := s.ring.SealServer(purposeSigning, k.KID, k.Seed)
	if err != nil {
		return wrap(err, "seal signing key")
	}
	_, err = tx.ExecContext(ctx, `insert into signing_keys (kid, public, seed, created_at, signs_from, signs_until, served_until) values ($1, $2, $3, $4, $5, $6, $7)`,
		k.KID, k.Public, sealed, micros(k.CreatedAt), micros(k.SignsFrom), micros(k.SignsUntil), micros(k.ServedUntil))
	return err
}

// An Installation is what is fixed when a database is first used: tokens name the
// issuer and logs their origin, so neither may change under them.
type Installation struct {
	Issuer    string
	LogOrigin string
	CreatedAt time.Time
}

// Install returns the installation, made from want if this is the first start;
// first tells whether it was. Of several servers starting at once one is first.
func (s *Store) Install(ctx context.Context, want Installation) (got Installation, first bool, err error) {
	err = s.change(ctx, "", func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `insert into installation (id, issuer, log_origin, created_at) values (1, $1, $2, $3) on conflict (id) do nothing`,
			want.Issuer, want.LogOrigin, micros(s.now()))
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		first = n == 1
		if err != nil {
			return err
		}
		var created int64
		err = tx.QueryRowContext(ctx, `select issuer, log_origin, created_at from installation where id = 1`).Scan(&got.Issuer, &got.LogOrigin, &created)
		got.CreatedAt = timeOf(created)
		return err
	})
	return got, first, wrap(err, "read installation")
}

// Now is the store's clock: UTC, in microseconds, as times are stored.
func (s *Store) Now() time.Time { return s.now() }

// NewID makes an id that sorts by time.
func (s *Store) NewID(prefix string) string { return s.ids.New(prefix, s.now()) }

// Tag authenticates a message as [seal.Master.Tag] does: all servers of the database
// make and know the same tags.
func (s *Store) Tag(purpose string, message []byte) []byte {
	return s.master.Tag(seal.Purpose(purpose), message)
}

// Tagged reports whether Tag made tag.
func (s *Store) Tagged(purpose string, message, tag []byte) bool {
	return s.master.Tagged(seal.Purpose(purpose), message, tag)
}
