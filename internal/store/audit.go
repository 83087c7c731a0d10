package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"math"
	"strings"
	"time"

	"hodl"
	"hodl/internal/ledger"
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
	}, `select `+c.key+`, `+c.column+` from `+c.table+` where `+c.column+` is not null order by `+c.key)
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
	User       hodl.UserID
	Commitment []byte
	Salt       []byte // nil when it was erased, or is missing
	Leaf       []byte // as its tile has it; nil while the tile is not full
}

// InPlace reports whether the tree holds the commitment at its place, as far as the
// record's own tile tells.
func (e *LogEntry) InPlace() bool {
	leaf := ledger.Leaf(e.Commitment)
	return len(e.Leaf) == 0 || string(e.Leaf) == string(leaf[:])
}

// Bound reports whether the commitment is that of the body.
func (e *LogEntry) Bound() bool {
	if len(e.Salt) != 32 {
		return false
	}
	sum := ledger.Commit([32]byte(e.Salt), []byte(e.Body))
	return string(sum[:]) == string(e.Commitment)
}

// EachEntry hands over a log in its order.
func (s *Snapshot) EachEntry(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, take func(*LogEntry) error) error {
	return s.each(ctx, ws, func(row scanner) error {
		var e LogEntry
		var at int64
		if err := row.Scan(&e.Seq, &e.Kind, &at, &e.Body, &e.User, &e.Commitment, &e.Salt, &e.Leaf); err != nil {
			return err
		}
		e.At = timeOf(at)
		return take(&e)
	}, `select r.seq, r.kind, r.at, r.body, r.member, r.commitment, d.salt, substr(t.hashes, cast(r.seq % 256 * 32 + 1 as int), 32) from access_records r
		left join access_details d on d.workspace = r.workspace and d.mode = r.mode and d.seq = r.seq
		left join log_tiles t on t.workspace = r.workspace and t.mode = r.mode and t.level = 0 and t.tile = r.seq / 256
		where r.workspace = $1 and r.mode = $2 order by r.seq`, m)
}

// A StoredHead is the head of a log as it is kept.
type StoredHead struct {
	Size       int64
	Tree       []byte // of [ledger.Frontier.Pack]
	Signatures []byte
}

// Frontier reads the tree of the head, or says why it cannot.
func (h *StoredHead) Frontier() (*ledger.Frontier, error) { return ledger.NewFrontier(h.Size, h.Tree) }

// LogHeads returns the heads of a workspace's logs.
func (s *Snapshot) LogHeads(ctx context.Context, ws hodl.WorkspaceID) (map[hodl.Mode]*StoredHead, error) {
	out := map[hodl.Mode]*StoredHead{}
	err := s.each(ctx, ws, func(row scanner) error {
		var m hodl.Mode
		h := &StoredHead{}
		err := row.Scan(&m, &h.Size, &h.Tree, &h.Signatures)
		out[m] = h
		return err
	}, `select mode, size, tree, signatures from log_heads where workspace = $1`)
	return out, err
}

// LogVerifiers returns the name of a workspace's log and the verifier keys of all
// that ever signed it.
func (s *Snapshot) LogVerifiers(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) (origin string, out []ledger.Verifier, err error) {
	if _, err := found(s.tx.QueryRowContext(ctx, `select log_origin from installation`).Scan(&origin)); err != nil {
		return "", nil, err
	}
	origin = LogOrigin(origin, ws, m)
	keys, err := rowsOf(ctx, s.tx, scanLogKey, selectLogKeys)
	if err != nil {
		return "", nil, err
	}
	for _, k := range keys {
		v, err := ledger.ParseVerifier(ledger.VerifierKey(origin, k.Public))
		if err != nil {
			return "", nil, err
		}
		out = append(out, v)
	}
	return origin, out, nil
}

// EachUpperTile hands over the tiles of a log above level 0.
func (s *Snapshot) EachUpperTile(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, take func(t ledger.Tile, hashes []byte) error) error {
	return s.each(ctx, ws, func(row scanner) error {
		t := ledger.Tile{}
		var hashes []byte
		if err := row.Scan(&t.Level, &t.Index, &hashes); err != nil {
			return err
		}
		t.Width = len(hashes) / len(ledger.Hash{})
		return take(t, hashes)
	}, `select level, tile, hashes from log_tiles where workspace = $1 and mode = $2 and level > 0 order by level, tile`, m)
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
