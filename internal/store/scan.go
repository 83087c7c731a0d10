package store

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5/pgtype"

	"hodl"
	"hodl/internal/ledger"
)

// scanner is a *sql.Row, *sql.Rows or pgx.Row.
type scanner interface{ Scan(...any) error }

func scanTokenRow(k tokenKey, row scanner) (*tokenRow, error) {
	x := &tokenRow{Token: hodl.Token{ID: k.id, Workspace: k.ws, Mode: k.mode}}
	var ancestors string
	var issued, expires, revoked int64
	err := row.Scan(&x.Session, &x.User, &x.Key, &x.MaxHydrations, &x.Hydrations, &x.Drawn, &x.seq, &ancestors, &issued, &expires, &revoked, &x.RevokeReason)
	x.IssuedAt, x.ExpiresAt, x.RevokedAt = timeOf(issued), timeOf(expires), timeOf(revoked)
	x.descend(splitIDs(ancestors))
	return x, err
}

func scanSessionRow(row scanner) (*sessionRow, error) {
	x := &sessionRow{}
	var captured, created, updated, hour int64
	err := row.Scan(&x.member, &x.state, &x.fingerprint, &captured, &created, &updated, &hour, &x.hydrations, &x.byKey)
	x.capturedAt, x.createdAt, x.updatedAt, x.hour = timeOf(captured), timeOf(created), timeOf(updated), timeOf(hour)
	return x, err
}

func scanHodlRow(row scanner) (*hodlRow, error) {
	x := &hodlRow{}
	var updated, deleted int64
	if err := row.Scan(&updated, &deleted, &x.tags, &x.known); err != nil {
		return nil, err
	}
	x.UpdatedAt, x.DeletedAt = timeOf(updated), timeOf(deleted)
	return x, wrap(json.Unmarshal([]byte(x.tags), &x.Tags), "read the tags of a hodl")
}

func scanOnce(x *onceRow, row scanner) error {
	var request []byte
	err := row.Scan(&request, &x.answer)
	copy(x.request[:], request)
	return err
}

// after scans a key in front of what the wrapped scan wants.
type after struct {
	scanner
	key []any
}

func (a after) Scan(rest ...any) error { return a.scanner.Scan(append(a.key, rest...)...) }

// along scans more behind what the wrapped scan wants.
type along struct {
	scanner
	rest []any
}

func (a along) Scan(first ...any) error { return a.scanner.Scan(append(first, a.rest...)...) }

// takeLog and the like put a row that an engine has locked into its place. Each
// row begins with its key.
func (r *rows) takeLog(row scanner) error {
	_, err := r.readLog(row)
	return err
}

func (r *rows) readLog(row scanner) (*logRow, error) {
	var k partition
	var l logRow
	var ttl int64
	var tree []byte
	err := row.Scan(&k.ws, &k.mode, &l.size, &l.epoch, &l.plan, &ttl, &l.limits.MaxHydrations, &l.limits.Hourly, &l.policy.Current, &l.policy.Revision, &l.receipts, &tree, &l.signed)
	if err != nil {
		return &l, err
	}
	l.limits.TTL = time.Duration(ttl) * time.Second
	r.logs[k] = &l
	if l.tree, err = ledger.NewFrontier(l.size, tree); err != nil {
		return &l, brokenLog(k, "its head is damaged (%v)", err)
	}
	return &l, nil
}

func (r *rows) takeUsage(row scanner) error {
	var k usageKey
	var u usageRow
	err := row.Scan(&k.ws, &k.mode, &k.month, &u.hydrations)
	r.usage[k] = &u
	return err
}

func (r *rows) takeToken(row scanner) error {
	_, err := r.readToken(row)
	return err
}

func (r *rows) readToken(row scanner) (*tokenRow, error) {
	var k tokenKey
	x, err := scanTokenRow(k, after{row, []any{&k.ws, &k.mode, &k.id}})
	x.Workspace, x.Mode, x.ID = k.ws, k.mode, k.id
	r.tokens[k] = x
	return x, err
}

// takeHead and takeFound take a row and where PostgreSQL has it.
func (r *rows) takeHead(row scanner) error {
	var at pgtype.TID
	l, err := r.readLog(along{row, []any{&at}})
	l.ctid = at
	return err
}

func (r *rows) takeFound(row scanner) error {
	var at pgtype.TID
	x, err := r.readToken(along{row, []any{&at}})
	x.ctid = at
	return err
}

// takeEnd marks a token that a revocation of many has ended. One revoked by itself
// before keeps its reason.
func (r *rows) takeEnd(row scanner) error {
	var k tokenKey
	var at int64
	var reason string
	err := row.Scan(&k.ws, &k.mode, &k.id, &at, &reason)
	if x := r.tokens[k]; x != nil && x.RevokedAt.IsZero() {
		x.RevokedAt, x.RevokeReason = timeOf(at), reason
	}
	return err
}

func (r *rows) takeSession(row scanner) error {
	var k sessionKey
	x, err := scanSessionRow(after{row, []any{&k.ws, &k.mode, &k.id}})
	r.sessions[k] = x
	return err
}

func (r *rows) takeHodl(row scanner) error {
	var k hodlKey
	x, err := scanHodlRow(after{row, []any{&k.ws, &k.mode, &k.member, &k.id}})
	r.hodls[k] = x
	return err
}

func (r *rows) takeOnce(row scanner) error {
	var k onceKey
	x := &onceRow{}
	err := scanOnce(x, after{row, []any{&k.ws, &k.mode, &k.name}})
	r.once[k] = x
	return err
}
