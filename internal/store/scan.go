package store

import "hodl"

// scanner is a *sql.Row, *sql.Rows or pgx.Row.
type scanner interface{ Scan(...any) error }

func scanTokenRow(k tokenKey, row scanner) (*tokenRow, error) {
	x := &tokenRow{Token: hodl.Token{ID: k.id, Workspace: k.ws, Mode: k.mode}}
	var issued, expires, revoked int64
	err := row.Scan(&x.Session, &x.User, &x.MaxHydrations, &x.Hydrations, &issued, &expires, &revoked, &x.RevokeReason)
	x.IssuedAt, x.ExpiresAt, x.RevokedAt = timeOf(issued), timeOf(expires), timeOf(revoked)
	return x, err
}

func scanSessionRow(row scanner) (*sessionRow, error) {
	x := &sessionRow{}
	var captured, created, updated int64
	err := row.Scan(&x.member, &x.state, &x.fingerprint, &captured, &created, &updated)
	x.capturedAt, x.createdAt, x.updatedAt = timeOf(captured), timeOf(created), timeOf(updated)
	return x, err
}

func scanHodlRow(row scanner) (*hodlRow, error) {
	x := &hodlRow{}
	var updated, deleted int64
	err := row.Scan(&updated, &deleted)
	x.UpdatedAt, x.deletedAt = timeOf(updated), timeOf(deleted)
	return x, err
}

// after scans a key in front of what the wrapped scan wants.
type after struct {
	scanner
	key []any
}

func (a after) Scan(rest ...any) error { return a.scanner.Scan(append(a.key, rest...)...) }

// takeLog and the like put a row that an engine has locked into its place. Each
// row begins with its key.
func (r *rows) takeLog(row scanner) error {
	var k partition
	var l logRow
	err := row.Scan(&k.ws, &k.mode, &l.size, &l.plan)
	r.logs[k] = &l
	return err
}

func (r *rows) takeUsage(row scanner) error {
	var k usageKey
	var u usageRow
	err := row.Scan(&k.ws, &k.mode, &k.month, &u.hydrations)
	r.usage[k] = &u
	return err
}

func (r *rows) takeToken(row scanner) error {
	var k tokenKey
	x, err := scanTokenRow(k, after{row, []any{&k.ws, &k.mode, &k.id}})
	x.Workspace, x.Mode, x.ID = k.ws, k.mode, k.id
	r.tokens[k] = x
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
