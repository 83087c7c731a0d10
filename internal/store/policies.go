package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"

	"hodl"
)

// purposePolicy seals documents of policies: their words and allowances name people
// and customers.
const purposePolicy = "policy"

// A PolicyState is how the redaction policies of a workspace stand in a mode.
type PolicyState struct {
	Current  string // the name of the one that applies to every hydration
	Revision int64  // rises with every change of a policy, or of which is current
}

// Policies is a state and the last versions of policies in it, by name: without
// presets and without those that are not there.
type Policies struct {
	PolicyState
	ByName map[string]*hodl.Policy
}

const (
	policyColumns = `p.id, p.name, p.version, p.document, p.author, p.created_at`
	lastPolicy    = ` and p.version = (select max(x.version) from redaction_policies x where x.workspace = p.workspace and x.mode = p.mode and x.name = p.name)`
)

// A policyRow is a version as it is kept; sealed is nil when the policy was deleted.
type policyRow struct {
	hodl.Policy
	sealed []byte
}

func scanPolicy(row *sql.Rows) (policyRow, error) {
	var p policyRow
	var created int64
	err := row.Scan(&p.ID, &p.Name, &p.Version, &p.sealed, &p.Author, &created)
	p.CreatedAt = timeOf(created)
	return p, err
}

func (s *Store) openPolicy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, p *policyRow) error {
	plain, err := s.ring.Open(ctx, ws, purposePolicy, objectOf(m, string(p.ID)), p.sealed)
	if err != nil {
		return wrap(err, "open policy %s", p.ID)
	}
	return wrap(json.Unmarshal(plain, &p.Document), "read policy %s", p.ID)
}

// policies reads versions and opens them.
func (s *Store) policies(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, where string, args ...any) (out []*hodl.Policy, err error) {
	err = rereading(func() error {
		out = nil
		var list []policyRow
		err := s.glance(ctx, ws, func(q querier) (err error) {
			list, err = rowsOf(ctx, q, scanPolicy, `select `+policyColumns+` from redaction_policies p
				where p.workspace = $1 and p.mode = $2 and p.document is not null`+where, append([]any{ws, m}, args...)...)
			return err
		})
		for i := range list {
			if err == nil {
				err = s.openPolicy(ctx, ws, m, &list[i])
			}
			out = append(out, &list[i].Policy)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Policies lists the last versions of a workspace's own policies, last changed first.
func (s *Store) Policies(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, p Page) ([]*hodl.Policy, error) {
	return s.policies(ctx, ws, m, lastPolicy+` and p.id < $3 order by p.id desc limit $4`, cmp.Or(p.BeforeID, "pol_z"), p.Limit)
}

// Policy returns a version of a workspace's own policy, the last one when version
// is 0.
func (s *Store) Policy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, version int) (*hodl.Policy, error) {
	where, args := ` and p.name = $3 and p.version = $4`, []any{name, version}
	if version == 0 {
		where, args = ` and p.name = $3`+lastPolicy, args[:1]
	}
	list, err := s.policies(ctx, ws, m, where, args...)
	if err == nil && len(list) == 0 {
		err = noPolicyVersion(name, version)
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func noPolicy(name string) error {
	return hodl.Errorf(hodl.NotFound, "no redaction policy %.80q", name).WithHint("check the name; list yours to see what there is")
}

func noPolicyVersion(name string, version int) error {
	if version == 0 {
		return noPolicy(name)
	}
	return hodl.Errorf(hodl.NotFound, "no version %d of the redaction policy %.80q", version, name).WithHint("list its versions to see what there is")
}

// PolicyVersions lists the versions of a workspace's own policy before one, the last
// first; before 0 lists from the last.
func (s *Store) PolicyVersions(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, before, limit int) ([]*hodl.Policy, error) {
	return s.policies(ctx, ws, m, ` and p.name = $3 and p.version < $4 order by p.version desc limit $5`, name, cmp.Or(before, math.MaxInt32), limit)
}

// PolicyState tells how the policies of a workspace stand.
func (s *Store) PolicyState(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) (PolicyState, error) {
	all, err := s.PoliciesNamed(ctx, ws, m)
	return all.PolicyState, err
}

// PoliciesNamed returns the current policy and those of names, all as they stand at
// one moment.
func (s *Store) PoliciesNamed(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, names ...string) (out Policies, err error) {
	args, marks := []any{ws, m}, ""
	for i, name := range names {
		args = append(args, name)
		marks += ", $" + strconv.Itoa(i+3)
	}
	query := `select l.policy, l.policies, ` + policyColumns + ` from log_heads l left join redaction_policies p
		on p.workspace = l.workspace and p.mode = l.mode and p.document is not null and p.name in (l.policy` + marks + `)` + lastPolicy + `
		where l.workspace = $1 and l.mode = $2`
	err = rereading(func() error {
		out = Policies{ByName: map[string]*hodl.Policy{}}
		var list []policyRow
		err := s.glance(ctx, ws, func(q querier) (err error) {
			list, err = rowsOf(ctx, q, out.scan, query, args...)
			return err
		})
		if err == nil && len(list) == 0 {
			err = missing(sql.ErrNoRows, "workspace", ws)
		}
		for i := range list {
			if p := &list[i]; err == nil && p.sealed != nil {
				out.ByName[p.Name] = &p.Policy
				err = s.openPolicy(ctx, ws, m, p)
			}
		}
		return err
	})
	return out, err
}

// scan takes a row of the state and maybe a policy.
func (all *Policies) scan(row *sql.Rows) (policyRow, error) {
	var p policyRow
	var id, name, author sql.NullString
	var version, created sql.NullInt64
	err := row.Scan(&all.Current, &all.Revision, &id, &name, &version, &p.sealed, &author, &created)
	p.ID, p.Name, p.Version, p.Author, p.CreatedAt = hodl.PolicyID(id.String), name.String, int(version.Int64), hodl.KeyID(author.String), timeOf(created.Int64)
	p.Current = p.Name == all.Current
	return p, err
}

// ChangePolicy lets change decide on the next document of a policy, given its last
// version, nil when there is none, with nobody else changing it. A nil document
// leaves it as it is. It returns the version that stands then.
func (s *Store) ChangePolicy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, author hodl.KeyID, change func(last *hodl.Policy) (*hodl.PolicyDocument, error)) (out *hodl.Policy, err error) {
	err = s.changePolicies(ctx, ws, m, func(tx *sql.Tx, current string) (changed bool, err error) {
		last, err := s.lastPolicy(ctx, tx, ws, m, name)
		if err != nil {
			return false, err
		}
		var known *hodl.Policy
		if last.sealed != nil {
			known = &last.Policy
			known.Current = name == current
		}
		document, err := change(known)
		if err != nil || document == nil {
			out = known
			Result(ctx, out)
			return false, err
		}
		now := s.now()
		out = &hodl.Policy{
			ID: hodl.PolicyID(s.ids.New("pol", now)), Name: name, Version: last.Version + 1, Current: name == current,
			Document: *document, Author: author, CreatedAt: now,
		}
		Result(ctx, out)
		if known == nil {
			if err := refuseTooMany(ctx, tx, ws, m); err != nil {
				return false, err
			}
		}
		return true, s.addPolicy(ctx, tx, ws, m, out)
	})
	return out, err
}

// changePolicies runs a change of policies, given the name of the current one, and
// raises the revision. The head of the log is locked first, as by every batch.
func (s *Store) changePolicies(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, change func(tx *sql.Tx, current string) (bool, error)) error {
	run := func(tx *sql.Tx) error {
		var current string
		err := tx.QueryRowContext(ctx, `select policy from log_heads where workspace = $1 and mode = $2`+s.locked(), ws, m).Scan(&current)
		if err != nil {
			return missing(err, "workspace", ws)
		}
		changed, err := change(tx, current)
		if err != nil || !changed {
			return err
		}
		_, err = tx.ExecContext(ctx, `update log_heads set policies = policies + 1 where workspace = $1 and mode = $2`, ws, m)
		return err
	}
	var err error
	for range mostSealings {
		if err = s.change(ctx, ws, run); !errors.Is(err, errRetired) {
			break
		}
		s.ring.Forget(ws)
	}
	return err
}

// lastPolicy returns the last version, opened unless the policy was deleted; the zero
// row when there never was one.
func (s *Store) lastPolicy(ctx context.Context, tx *sql.Tx, ws hodl.WorkspaceID, m hodl.Mode, name string) (policyRow, error) {
	list, err := rowsOf(ctx, tx, scanPolicy, `select `+policyColumns+` from redaction_policies p where p.workspace = $1 and p.mode = $2 and p.name = $3`+lastPolicy, ws, m, name)
	if err != nil || len(list) == 0 {
		return policyRow{}, err
	}
	if list[0].sealed != nil {
		err = s.openPolicy(ctx, ws, m, &list[0])
	}
	return list[0], err
}

func refuseTooMany(ctx context.Context, tx *sql.Tx, ws hodl.WorkspaceID, m hodl.Mode) error {
	var n int
	err := tx.QueryRowContext(ctx, `select count(distinct name) from redaction_policies where workspace = $1 and mode = $2 and document is not null`, ws, m).Scan(&n)
	if err == nil && n >= hodl.MaxPolicies {
		err = hodl.Errorf(hodl.Conflict, "the workspace has %d redaction policies already", n).WithHint("delete one that nobody uses")
	}
	return err
}

func (s *Store) addPolicy(ctx context.Context, tx *sql.Tx, ws hodl.WorkspaceID, m hodl.Mode, p *hodl.Policy) error {
	plain, err := json.Marshal(p.Document, json.Deterministic(true))
	if err != nil {
		return wrap(err, "encode policy")
	}
	sealed, err := s.ring.Seal(ctx, ws, purposePolicy, objectOf(m, string(p.ID)), plain)
	if err != nil {
		return wrap(err, "seal policy")
	}
	if err := s.claimDataKey(ctx, tx, sealedWith(ws, sealed)[0]); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `insert into redaction_policies (workspace, mode, id, name, version, document, author, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		ws, m, p.ID, p.Name, p.Version, sealed, p.Author, micros(p.CreatedAt))
	return err
}

// UsePolicy makes a policy the current one of a workspace.
func (s *Store) UsePolicy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string) error {
	return s.changePolicies(ctx, ws, m, func(tx *sql.Tx, current string) (bool, error) {
		if !hodl.IsPreset(name) {
			last, err := s.lastPolicy(ctx, tx, ws, m, name)
			if err == nil && last.sealed == nil {
				err = noPolicy(name)
			}
			if err != nil {
				return false, err
			}
		}
		if name == current {
			return false, nil
		}
		_, err := tx.ExecContext(ctx, `update log_heads set policy = $3 where workspace = $1 and mode = $2`, ws, m, name)
		return true, err
	})
}

// DeletePolicy erases the documents of a policy. That it was there stays known, so
// that one of the same name goes on with the next version. admit decides on its last
// version. The current one is not deleted: [hodl.Conflict].
func (s *Store) DeletePolicy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, admit func(last *hodl.Policy) error) error {
	return s.changePolicies(ctx, ws, m, func(tx *sql.Tx, current string) (bool, error) {
		last, err := s.lastPolicy(ctx, tx, ws, m, name)
		switch {
		case err != nil:
			return false, err
		case last.sealed == nil:
			return false, noPolicy(name)
		case name == current:
			return false, hodl.Errorf(hodl.Conflict, "%s is the current redaction policy", name).WithHint("use another one first")
		}
		if err := admit(&last.Policy); err != nil {
			return false, err
		}
		if _, err := tx.ExecContext(ctx, `delete from redaction_policies where workspace = $1 and mode = $2 and name = $3 and version < $4`, ws, m, name, last.Version); err != nil {
			return false, err
		}
		_, err = tx.ExecContext(ctx, `update redaction_policies set document = null, author = '' where workspace = $1 and mode = $2 and name = $3`, ws, m, name)
		return true, err
	})
}
