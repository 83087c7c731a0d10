package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hodl"
)

// A token that was exchanged for another knows its ancestors by name. Nothing is
// written down the line: whoever uses a token looks up it, at rows that are locked
// anyway, so that one write to an ancestor counts for all that came from it.

// hotToken is what a batch must know of a token.
const hotToken = `session, member, api_key, max_hydrations, hydrations, drawn, seq, ancestors, issued_at, expires_at, revoked_at, revoke_reason`

// loadEnd finds the first revocation of many that has ended a token.
const loadEnd = `select at, reason from (
	select seq, at, reason from revocations where workspace = $1 and mode = $2 and seq > $3 and kind = 'session' and subject = $4
	union all select seq, at, reason from revocations where workspace = $1 and mode = $2 and seq > $3 and kind = 'key' and subject = $5
	union all select seq, at, reason from revocations where workspace = $1 and mode = $2 and seq > $3 and kind = 'user' and subject = $6
	union all select seq, at, reason from revocations where workspace = $1 and mode = $2 and seq > $3 and kind = 'workspace' and subject = $1) e
	order by seq limit 1`

// descend notes where a token comes from.
func (x *tokenRow) descend(ancestors []hodl.TokenID) {
	if x.Ancestors = ancestors; len(ancestors) > 0 {
		x.Parent = ancestors[len(ancestors)-1]
	}
}

// wantLineage names the ancestors of a token as well.
func (r *rows) wantLineage(k tokenKey) { r.lineages[k] = struct{}{} }

// wantFamily names its ancestors and those of its children that live at now.
func (r *rows) wantFamily(k tokenKey, now time.Time) {
	r.wantLineage(k)
	r.families[k] = now
}

// lineage returns the ancestors of a token that were loaded: fewer than it has when
// they were not asked for.
func (r *rows) lineage(x *tokenRow) []*hodl.Token {
	var out []*hodl.Token
	for _, id := range x.Ancestors {
		if a := r.tokens[tokenKey{partition{x.Workspace, x.Mode}, id}]; a != nil {
			out = append(out, &a.Token)
		}
	}
	return out
}

// resolve works out what its ancestors leave of a token.
func (r *rows) resolve(x *tokenRow) {
	x.Left = x.Unused()
	for _, a := range r.lineage(x) {
		x.Left = min(x.Left, a.Unused())
		if x.RevokedAt.IsZero() {
			x.RevokedAt, x.RevokeReason = a.RevokedAt, a.RevokeReason
		}
	}
}

// draw counts a hydration of a token, and against every ancestor.
func (r *rows) draw(x *tokenRow) {
	x.Hydrations++
	x.dirty = true
	for _, id := range x.Ancestors {
		if a := r.tokens[tokenKey{partition{x.Workspace, x.Mode}, id}]; a != nil {
			a.Drawn++
			a.dirty = true
		}
	}
}

// children counts the live tokens that were exchanged for the token at k. Its
// family was asked for.
func (r *rows) children(k tokenKey, now time.Time) int {
	n := 0
	for at, x := range r.tokens {
		if x != nil && at.partition == k.partition && x.Parent == k.id && x.Live(now) {
			n++
		}
	}
	return n
}

// follow reads the ancestors of tokens, and whether a revocation of many has ended
// them. The heads of their logs are there. What ended an ancestor so has ended them
// too: they are of the same subjects, and came before it.
func (r *rows) follow(ctx context.Context, q querier, tokens ...*tokenRow) error {
	for _, x := range tokens {
		if x == nil {
			continue
		}
		if err := r.markEnd(ctx, q, x); err != nil {
			return err
		}
		for _, id := range x.Ancestors {
			k := tokenKey{partition{x.Workspace, x.Mode}, id}
			if r.tokens[k] != nil {
				continue
			}
			if err := takeAll(ctx, q, r.takeToken, sqliteTokens.one(), k.ws, k.mode, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// markEnd marks a token that a revocation of many has ended. One revoked by itself
// keeps its reason.
func (r *rows) markEnd(ctx context.Context, q querier, x *tokenRow) error {
	log := r.logs[partition{x.Workspace, x.Mode}]
	if log == nil || x.seq >= log.epoch || !x.RevokedAt.IsZero() {
		return nil
	}
	var at int64
	_, err := found(q.QueryRowContext(ctx, loadEnd, x.Workspace, x.Mode, x.seq, x.Session, x.Key, x.User).Scan(&at, &x.RevokeReason))
	x.RevokedAt = timeOf(at)
	return err
}

// takeAll hands each row a query finds to take.
func takeAll(ctx context.Context, q querier, take func(scanner) error, query string, args ...any) error {
	_, err := rowsOf(ctx, q, func(row *sql.Rows) (struct{}, error) { return struct{}{}, take(row) }, query, args...)
	return err
}

// loadFamilies follows the tokens of a batch: SQLite answers at once, so that a
// token without ancestors costs nothing.
func (t *sqliteTx) loadFamilies(r *rows) error {
	for k, now := range r.families {
		if err := t.each(sqliteLoadChildren, []any{string(k.ws), string(k.mode), string(k.id), micros(now)}, r.takeToken); err != nil {
			return err
		}
	}
	return r.follow(t.ctx, t, slices.Collect(maps.Values(r.tokens))...)
}

// queueFamilies asks for what belongs to the tokens of a batch.
func queueFamilies(b *pgx.Batch, r *rows, tokens columns) {
	lineages, families := newColumns(3), newColumns(4)
	for k := range r.lineages {
		lineages.add(string(k.ws), string(k.mode), string(k.id))
	}
	for k, now := range r.families {
		families.add(string(k.ws), string(k.mode), string(k.id), micros(now))
	}
	queueLoad(b, lineages, pgLoadAncestors, r.takeFound)
	queueLoad(b, families, pgLoadChildren, r.takeFound)
	queueLoad(b, tokens, pgLoadEnds, r.takeEnd)
}
