package store

import (
	"context"
	"database/sql"
	"net/netip"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"hodl"
)

const audienceColumns = `id, name, description, addresses, jwk, created_at, updated_at`

func scanAudience(row scanner) (*hodl.Audience, error) {
	a := &hodl.Audience{Addresses: []netip.Prefix{}}
	var addresses, jwk string
	var created, updated int64
	if err := row.Scan(&a.ID, &a.Name, &a.Description, &addresses, &jwk, &created, &updated); err != nil {
		return nil, err
	}
	a.CreatedAt, a.UpdatedAt, a.Builtin = timeOf(created), timeOf(updated), hodl.BuiltinAudience(a.Name) != nil
	for s := range strings.FieldsSeq(addresses) {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, wrap(err, "read addresses of audience %s", a.ID) // to skip one would open the pin
		}
		a.Addresses = append(a.Addresses, p)
	}
	if jwk == "" {
		return a, nil
	}
	a.JWK = &hodl.JWK{}
	if err := json.Unmarshal([]byte(jwk), a.JWK); err != nil {
		return nil, wrap(err, "read key of audience %s", a.ID)
	}
	a.JKT = a.JWK.Thumbprint()
	return a, nil
}

// bindings writes what an audience is bound to, as it is kept.
func bindings(a *hodl.Audience) (addresses, jwk string, err error) {
	list := make([]string, len(a.Addresses))
	for i, p := range a.Addresses {
		list[i] = p.String()
	}
	if a.JWK == nil {
		return strings.Join(list, " "), "", nil
	}
	text, err := json.Marshal(a.JWK)
	return strings.Join(list, " "), string(text), err
}

// AddAudience registers an audience. A name that is registered is a
// [hodl.Conflict].
func (s *Store) AddAudience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, a *hodl.Audience) error {
	addresses, jwk, err := bindings(a)
	if err != nil {
		return wrap(err, "encode audience")
	}
	err = s.change(ctx, ws, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `insert into audiences (workspace, mode, `+audienceColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			ws, m, a.ID, a.Name, a.Description, addresses, jwk, micros(a.CreatedAt), micros(a.UpdatedAt))
		return err
	})
	if duplicate(err) {
		return hodl.Errorf(hodl.Conflict, "the audience %s is registered already", a.Name).WithHint("change the one that is there: list yours to find its id")
	}
	return wrap(err, "add audience")
}

// Audience returns a registered audience by its id.
func (s *Store) Audience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.AudienceID) (*hodl.Audience, error) {
	a, err := s.audience(ctx, ws, `select `+audienceColumns+` from audiences where workspace = $1 and mode = $2 and id = $3`, ws, m, id)
	return a, missing(err, "audience", id)
}

// AudienceNamed returns a registered audience by the aud of its tokens.
func (s *Store) AudienceNamed(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string) (*hodl.Audience, error) {
	a, err := s.audience(ctx, ws, `select `+audienceColumns+` from audiences where workspace = $1 and mode = $2 and name = $3`, ws, m, name)
	return a, missing(err, "audience", name)
}

func (s *Store) audience(ctx context.Context, ws hodl.WorkspaceID, query string, args ...any) (a *hodl.Audience, err error) {
	err = s.glance(ctx, ws, func(q querier) error {
		a, err = scanAudience(q.QueryRowContext(ctx, query, args...))
		return err
	})
	return a, err
}

// Audiences lists registered audiences, newest first.
func (s *Store) Audiences(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, p Page) ([]*hodl.Audience, error) {
	before := p.BeforeID
	if before == "" {
		before = "aud_z" // sorts after every id the server makes, in any collation
	}
	var out []*hodl.Audience
	err := s.glance(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Audience, error) { return scanAudience(row) },
			`select `+audienceColumns+` from audiences where workspace = $1 and mode = $2 and id < $3 and created_at >= $4 order by id desc limit $5`,
			ws, m, before, micros(p.Since), p.Limit)
		return err
	})
	return out, err
}

// RegisteredNames tells which of names are registered.
func (s *Store) RegisteredNames(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, names []string) ([]string, error) {
	args, marks := []any{ws, m}, make([]string, len(names))
	for i, name := range names {
		args, marks[i] = append(args, name), "$"+strconv.Itoa(i+3)
	}
	var out []string
	err := s.glance(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (name string, err error) { return name, row.Scan(&name) },
			`select name from audiences where workspace = $1 and mode = $2 and name in (`+strings.Join(marks, ", ")+`)`, args...)
		return err
	})
	return out, err
}

// ChangeAudience lets change alter an audience as it stands, with nobody else
// altering it, and returns what it became.
func (s *Store) ChangeAudience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.AudienceID, change func(*hodl.Audience) error) (a *hodl.Audience, err error) {
	err = s.change(ctx, ws, func(tx *sql.Tx) error {
		a, err = scanAudience(tx.QueryRowContext(ctx, `select `+audienceColumns+` from audiences where workspace = $1 and mode = $2 and id = $3`+s.locked(), ws, m, id))
		if err != nil {
			return missing(err, "audience", id)
		}
		if err := change(a); err != nil {
			return err
		}
		addresses, jwk, err := bindings(a)
		if err != nil {
			return wrap(err, "encode audience")
		}
		_, err = tx.ExecContext(ctx, `update audiences set description = $4, addresses = $5, jwk = $6, updated_at = $7 where workspace = $1 and mode = $2 and id = $3`,
			ws, m, id, a.Description, addresses, jwk, micros(a.UpdatedAt))
		return err
	})
	return a, err
}

// DeleteAudience takes an audience out of the registry and returns what it was.
func (s *Store) DeleteAudience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.AudienceID) (a *hodl.Audience, err error) {
	err = s.change(ctx, ws, func(tx *sql.Tx) error {
		a, err = scanAudience(tx.QueryRowContext(ctx, `delete from audiences where workspace = $1 and mode = $2 and id = $3 returning `+audienceColumns, ws, m, id))
		return err
	})
	return a, missing(err, "audience", id)
}
