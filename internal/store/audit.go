package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"math"
	"strings"
	"time"

	"hodl"
)

// What a [Snapshot] tells of itself, for those who check it. None of it decides what
// is a fault.

// A DataKey is a version of a workspace's data key, as it is kept.
type DataKey struct {
	Version uint32
	Wrapped []byte
	Retired bool // nothing new is sealed with it
}

const selectDataKeys = `select version, wrapped, retired_at > 0 from data_keys where workspace = $1 order by version`

func scanDataKey(row scanner) (k DataKey, err error) {
	var version int64
	err = row.Scan(&version, &k.Wrapped, &k.Retired)
	k.Version = uint32(version)
	return k, err
}

// DataKeys returns every version of a workspace's data key, oldest first.
func (s *Snapshot) DataKeys(ctx context.Context, ws hodl.WorkspaceID) (out []DataKey, err error) {
	err = s.each(ctx, ws, func(row scanner) error {
		k, err := scanDataKey(row)
		out = append(out, k)
		return err
	}, selectDataKeys)
	return out, err
}

// EachSealed hands over every sealed value of a workspace.
func (s *Snapshot) EachSealed(ctx context.Context, ws hodl.WorkspaceID, take func(SealedValue) error) error {
	for _, c := range sealedColumns {
		key := make([]string, len(c.key))
		var value []byte
		into := make([]any, 0, len(key)+1)
		for i := range key {
			into = append(into, &key[i])
		}
		err := s.each(ctx, ws, func(row scanner) error {
			if err := row.Scan(append(into, &value)...); err != nil {
				return err
			}
			return take(SealedValue{c.place(key), c.purpose, c.of(key), value})
		}, `select `+strings.Join(c.key, ", ")+`, `+c.column+` from `+c.table+` where workspace = $1 and `+c.column+` is not null`)
		if err != nil {
			return wrap(err, "read %s", c.table)
		}
	}
	return nil
}

// CountSealed tells how many values EachSealed hands over.
func (s *Snapshot) CountSealed(ctx context.Context, ws hodl.WorkspaceID) (int64, error) {
	return s.CountSealedBefore(ctx, ws, math.MaxUint32)
}

// CountSealedBefore tells how many of them are under a data key older than version.
func (s *Snapshot) CountSealedBefore(ctx context.Context, ws hodl.WorkspaceID, version uint32) (n int64, err error) {
	for _, c := range sealedColumns {
		err := s.each(ctx, ws, func(row scanner) error {
			var rows int64
			err := row.Scan(&rows)
			n += rows
			return err
		}, `select count(*) from `+c.table+` where workspace = $1 and substr(`+c.column+`, 2, 4) < $2`, binary.BigEndian.AppendUint32(nil, version))
		if err != nil {
			return 0, wrap(err, "count %s", c.table)
		}
	}
	return n, nil
}

// WorkspaceName returns the name of a workspace.
func (s *Snapshot) WorkspaceName(ctx context.Context, ws hodl.WorkspaceID) (name string, err error) {
	err = s.each(ctx, ws, func(row scanner) error { return row.Scan(&name) }, `select name from workspaces where workspace = $1`)
	return name, err
}

// ServerSealed returns the values sealed under the master key itself.
func (s *Snapshot) ServerSealed(ctx context.Context) ([]SealedValue, error) {
	return serverSealed(ctx, s.tx)
}

func serverSealed(ctx context.Context, q querier) (out []SealedValue, err error) {
	for _, c := range serverColumns {
		list, err := serverValues(ctx, q, c)
		if err != nil {
			return nil, wrap(err, "read %s", c.table)
		}
		out = append(out, list...)
	}
	return out, nil
}

func serverValues(ctx context.Context, q querier, c serverColumn) ([]SealedValue, error) {
	return rowsOf(ctx, q, func(row *sql.Rows) (SealedValue, error) {
		v := SealedValue{Purpose: c.purpose}
		err := row.Scan(&v.Object, &v.Value)
		v.Place = c.table + "." + c.column + " of " + v.Object
		return v, err
	}, `select `+c.key+`, `+c.column+` from `+c.table+` order by `+c.key)
}

// SigningKeys returns the server's keys, oldest first. The seeds are sealed.
func (s *Snapshot) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	keys, err := rowsOf(ctx, s.tx, scanSigningKey, selectSigningKeys)
	return keys, wrap(err, "read signing keys")
}

// A LogEntry is a row of an access log.
type LogEntry struct {
	Seq        int64
	Kind       hodl.RecordKind
	At         time.Time
	Body       string // canonical JSON
	Commitment []byte
	Salt       []byte // nil when it was erased, or is missing
}

// Bound reports whether the commitment is that of the body.
func (e *LogEntry) Bound() bool {
	if len(e.Salt) != 32 {
		return false
	}
	sum := commit([32]byte(e.Salt), []byte(e.Body))
	return string(sum[:]) == string(e.Commitment)
}

// EachEntry hands over a log in its order.
func (s *Snapshot) EachEntry(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, take func(*LogEntry) error) error {
	return s.each(ctx, ws, func(row scanner) error {
		var e LogEntry
		var at int64
		if err := row.Scan(&e.Seq, &e.Kind, &at, &e.Body, &e.Commitment, &e.Salt); err != nil {
			return err
		}
		e.At = timeOf(at)
		return take(&e)
	}, `select r.seq, r.kind, r.at, r.body, r.commitment, d.salt from access_records r
		left join access_details d on d.workspace = r.workspace and d.mode = r.mode and d.seq = r.seq
		where r.workspace = $1 and r.mode = $2 order by r.seq`, m)
}

// LogSizes returns what the heads of a workspace's logs say.
func (s *Snapshot) LogSizes(ctx context.Context, ws hodl.WorkspaceID) (map[hodl.Mode]int64, error) {
	out := map[hodl.Mode]int64{}
	err := s.each(ctx, ws, func(row scanner) error {
		var m hodl.Mode
		var size int64
		err := row.Scan(&m, &size)
		out[m] = size
		return err
	}, `select mode, size from log_heads where workspace = $1`)
	return out, err
}

// Usage returns the hydrations counted in each month of a mode.
func (s *Snapshot) Usage(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) (map[string]int64, error) {
	out := map[string]int64{}
	err := s.each(ctx, ws, func(row scanner) error {
		var month string
		var n int64
		err := row.Scan(&month, &n)
		out[month] = n
		return err
	}, `select month, hydrations from usage where workspace = $1 and mode = $2`, m)
	return out, err
}

// A Misfit is a row that contradicts others.
type Misfit struct{ What string }

// EachMisfit hands over the tokens that count other hydrations than are recorded,
// and the sessions that stand at a version which is not there.
func (s *Snapshot) EachMisfit(ctx context.Context, ws hodl.WorkspaceID, take func(Misfit) error) error {
	err := s.each(ctx, ws, func(row scanner) error {
		var id, counted, recorded string
		if err := row.Scan(&id, &counted, &recorded); err != nil {
			return err
		}
		return take(Misfit{"token " + id + " counts " + counted + " hydrations and has " + recorded + " records"})
	}, `select t.id, cast(t.hydrations as text), cast(coalesce(r.n, 0) as text) from tokens t
		left join (select mode, jti, count(*) n from access_records where workspace = $1 and kind = 'hydrate' group by mode, jti) r
		on r.mode = t.mode and r.jti = t.id where t.workspace = $1 and t.hydrations <> coalesce(r.n, 0)`)
	if err != nil {
		return wrap(err, "compare tokens and records")
	}
	err = s.each(ctx, ws, func(row scanner) error {
		var id, fingerprint string
		if err := row.Scan(&id, &fingerprint); err != nil {
			return err
		}
		return take(Misfit{"session " + id + " stands at version " + fingerprint + ", which is not there"})
	}, `select s.id, s.fingerprint from sessions s where s.workspace = $1 and not exists (select 1 from session_versions v
		where v.workspace = s.workspace and v.mode = s.mode and v.session = s.id and v.fingerprint = s.fingerprint)`)
	return wrap(err, "compare sessions and versions")
}
