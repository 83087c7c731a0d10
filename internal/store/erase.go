package store

import (
	"context"
	"database/sql"

	"hodl"
	"hodl/internal/ledger"
)

// Erased is what the erasure of a person takes, or would take.
type Erased struct {
	Sessions int64 // with all their versions
	Hodls    int64
	Details  int64 // address, user agent and salt of access records
	Records  int64 // that stay, and from then on are bound to nothing
}

func (e *Erased) none() bool { return e.Sessions+e.Hodls+e.Details == 0 }

// An Erasure is the order to erase a person who is no longer a member.
type Erasure struct {
	Workspace hodl.WorkspaceID
	User      hodl.UserID
	Dry       bool                           // only count
	Record    func(m hodl.Mode) *hodl.Record // of the erasure, one for each mode
	Detail    hodl.RecordDetail
}

// EraseUser erases the content of a person, and what makes the records of their
// sessions personal, in the transaction that appends the record of it to the logs of
// both modes. The records themselves stay, and every proof of them holds. Who is
// still a member is refused as [hodl.Conflict].
func (s *Store) EraseUser(ctx context.Context, e Erasure) (*Erased, error) {
	var out *Erased
	err := s.change(ctx, e.Workspace, func(tx *sql.Tx) error {
		out = &Erased{}
		x := &eraser{s, tx, e, out}
		return x.run(ctx)
	})
	return out, missing(err, "member", e.User)
}

type eraser struct {
	*Store
	tx  *sql.Tx
	e   Erasure
	out *Erased
}

func (x *eraser) run(ctx context.Context) error {
	var removed int64
	if err := x.tx.QueryRowContext(ctx, `select removed_at from members where workspace = $1 and id = $2`, x.e.Workspace, x.e.User).Scan(&removed); err != nil {
		return err
	}
	if removed == 0 {
		return hodl.Errorf(hodl.Conflict, "%s is still a member", x.e.User).WithHint("remove them first, so that nothing new comes: DELETE /v1/members/{id}")
	}
	// Heads first, and in order, as every batch takes them.
	logs := map[hodl.Mode]*logRow{}
	for _, m := range []hodl.Mode{hodl.Live, hodl.Sandbox} {
		l, err := x.head(ctx, partition{x.e.Workspace, m})
		if err != nil {
			return err
		}
		logs[m] = l
	}
	if err := x.count(ctx); err != nil || x.e.Dry || x.out.none() {
		return err
	}
	for _, m := range []hodl.Mode{hodl.Live, hodl.Sandbox} {
		if err := x.appendErased(ctx, partition{x.e.Workspace, m}, logs[m]); err != nil {
			return err
		}
	}
	return x.delete(ctx)
}

// head takes the head of a log, if it is the one that was signed.
func (x *eraser) head(ctx context.Context, p partition) (*logRow, error) {
	l := &logRow{}
	var tree []byte
	err := x.tx.QueryRowContext(ctx, `select size, epoch, tree, signatures from log_heads where workspace = $1 and mode = $2`+x.locked(), p.ws, p.mode).Scan(&l.size, &l.epoch, &tree, &l.signed)
	if err != nil {
		return nil, err
	}
	if l.tree, err = ledger.NewFrontier(l.size, tree); err != nil {
		return nil, tampered(p.String(), "%v", err)
	}
	if s := x.notary.signer.Load(); s != nil && l.size > 0 {
		if err := (*s).Check(x.notary.checkpoint(p, l.size, l.tree.Root()), l.signed); err != nil {
			return nil, brokenLog(p, "%v", err)
		}
	}
	return l, nil
}

func (x *eraser) count(ctx context.Context) error {
	return x.tx.QueryRowContext(ctx, `select
		(select count(*) from sessions where workspace = $1 and member = $2),
		(select count(*) from hodls where workspace = $1 and member = $2),
		(select count(*) from access_records where workspace = $1 and member = $2 and kind <> 'erased'),
		(select count(*) from access_records r join access_details d on d.workspace = r.workspace and d.mode = r.mode and d.seq = r.seq
			where r.workspace = $1 and r.member = $2 and r.kind <> 'erased')`, x.e.Workspace, x.e.User).
		Scan(&x.out.Sessions, &x.out.Hodls, &x.out.Records, &x.out.Details)
}

// appendErased appends the record of the erasure, as a batch would.
func (x *eraser) appendErased(ctx context.Context, p partition, l *logRow) error {
	rec, err := prepare(x.e.Record(p.mode), x.e.Detail)
	if err != nil {
		return err
	}
	r := newRows()
	r.logs[p] = l
	r.append(p, rec)
	row := r.records[0]
	l.signed = []byte{}
	if s := x.notary.signer.Load(); s != nil {
		l.signed = (*s).Sign(x.notary.checkpoint(p, l.size, l.tree.Root()))
	}
	for _, w := range []struct {
		text string
		args []any
	}{
		{sqliteSaveLog, []any{p.ws, p.mode, l.size, l.epoch, l.tree.Pack(), l.signed}},
		{sqliteAddRecord, []any{p.ws, p.mode, row.seq, row.record.ID, row.record.Kind, row.record.User, row.record.Session, row.record.JTI, row.record.Actor, micros(row.record.At), string(row.body), row.commitment[:]}},
		{sqliteAddDetail, []any{p.ws, p.mode, row.seq, row.salt[:], row.detail.Address, row.detail.UserAgent}},
	} {
		if _, err := x.tx.ExecContext(ctx, w.text, w.args...); err != nil {
			return err
		}
	}
	for _, k := range r.leaves {
		leaves, err := workspaceTiles(ctx, x.tx, p).bundle(ledger.Tile{Index: k.tile, Width: ledger.TileWidth}, appendLeaf)
		if err != nil {
			return err
		}
		r.tiles[k] = leaves
	}
	return x.saveTiles(ctx, r)
}

func (x *eraser) saveTiles(ctx context.Context, r *rows) error {
	for k, hashes := range r.tiles {
		var before []byte
		_, err := found(x.tx.QueryRowContext(ctx, `select hashes from log_tiles where workspace = $1 and mode = $2 and level = $3 and tile = $4`, k.ws, k.mode, k.level, k.tile).Scan(&before))
		if err != nil {
			return err
		}
		_, err = x.tx.ExecContext(ctx, `insert into log_tiles (workspace, mode, level, tile, hashes) values ($1, $2, $3, $4, $5)
			on conflict (workspace, mode, level, tile) do update set hashes = excluded.hashes`, k.ws, k.mode, k.level, k.tile, append(before, hashes...))
		if err != nil {
			return err
		}
	}
	return nil
}

// delete deletes what is theirs. The triggers let the details go, now that the log
// says so.
func (x *eraser) delete(ctx context.Context) error {
	words := sqliteEraseWords
	if x.Engine() == "postgres" {
		words = `delete from hodl_words where workspace = $1 and member = $2`
	}
	for _, text := range []string{
		words,
		`delete from hodl_tags where workspace = $1 and member = $2`,
		`delete from hodls where workspace = $1 and member = $2`,
		`delete from session_versions where workspace = $1 and exists (select 1 from sessions s where s.workspace = session_versions.workspace
			and s.mode = session_versions.mode and s.id = session_versions.session and s.member = $2)`,
		`delete from sessions where workspace = $1 and member = $2`,
		`delete from access_details where workspace = $1 and exists (select 1 from access_records r where r.workspace = access_details.workspace
			and r.mode = access_details.mode and r.seq = access_details.seq and r.member = $2 and r.kind <> 'erased')`,
		`update members set name = '' where workspace = $1 and id = $2`,
		`update api_keys set name = '' where workspace = $1 and member = $2`,
	} {
		if _, err := x.tx.ExecContext(ctx, text, x.e.Workspace, x.e.User); err != nil {
			return wrap(err, "erase")
		}
	}
	if x.Engine() == "postgres" {
		return nil
	}
	_, err := x.tx.ExecContext(ctx, sqliteEraseJournal, x.e.Workspace)
	return wrap(err, "erase")
}
