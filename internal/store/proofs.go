package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hodl"
)

// A Proof is a proof of possession (RFC 9449) that a use was made with: it is
// accepted once, by all servers of the database together, because whoever accepts
// one holds the head of the log. Nobody asks for one after ExpiresAt: then its row
// goes.
type Proof struct {
	Digest    [32]byte // of the key's thumbprint and the proof's jti
	ExpiresAt time.Time
}

type proofKey struct {
	partition
	digest [32]byte
}

type proofRow struct {
	expiresAt time.Time
	fresh     bool
}

// wantProof names the row of x, if there is a proof.
func (r *rows) wantProof(p partition, x *Proof) {
	if x == nil {
		return
	}
	if r.proofs == nil {
		r.proofs, r.swept = map[proofKey]*proofRow{}, map[partition]time.Time{}
	}
	r.proofs[proofKey{p, x.Digest}] = nil
}

// unspent refuses a proof that was accepted before.
func (r *rows) unspent(p partition, x *Proof) error {
	if x != nil && r.proofs[proofKey{p, x.Digest}] != nil {
		return replayed()
	}
	return nil
}

// spend marks an unspent proof, at the time of its use.
func (r *rows) spend(p partition, x *Proof, at time.Time) {
	if x != nil {
		r.proofs[proofKey{p, x.Digest}] = &proofRow{x.ExpiresAt, true}
		r.swept[p] = at
	}
}

// Spend accepts the proof of a use that writes nothing else.
func (s *Store) Spend(ctx context.Context, u TokenUse) error {
	p := u.partition()
	return s.writer.do(ctx, &write{
		need: func(r *rows) { r.wantLog(p); r.wantProof(p, u.Proof) },
		decide: func(r *rows) error {
			if err := r.unspent(p, u.Proof); err != nil {
				return err
			}
			r.spend(p, u.Proof, u.At)
			return nil
		},
	})
}

func replayed() error {
	return hodl.Errorf(hodl.InvalidProof, "this proof was used before").WithHint("make a proof of its own, with a new jti, for every request")
}

func (r *rows) takeProof(row scanner) error {
	var k proofKey
	var digest []byte
	var expires int64
	err := row.Scan(&k.ws, &k.mode, &digest, &expires)
	copy(k.digest[:], digest)
	r.proofs[k] = &proofRow{expiresAt: timeOf(expires)}
	return err
}

// seen refuses early what the commit would refuse as well.
func (u TokenUse) seen(ctx context.Context, q querier) error {
	if u.Proof == nil {
		return nil
	}
	var one int
	there, err := found(q.QueryRowContext(ctx, `select 1 from proofs where workspace = $1 and mode = $2 and digest = $3`, u.Workspace, u.Mode, u.Proof.Digest[:]).Scan(&one))
	if there {
		return replayed()
	}
	return err
}

func (t *sqliteTx) saveProofs(r *rows) error {
	for p, at := range r.swept {
		if err := t.exec(sqliteSweepProofs, string(p.ws), string(p.mode), micros(at)); err != nil {
			return wrap(err, "sweep proofs")
		}
	}
	for k, x := range r.proofs {
		if x == nil || !x.fresh {
			continue
		}
		if err := t.exec(sqliteAddProof, string(k.ws), string(k.mode), k.digest[:], micros(x.expiresAt)); err != nil {
			return wrap(err, "save proof")
		}
	}
	return nil
}

func queueLoadProofs(b *pgx.Batch, r *rows) {
	if len(r.proofs) == 0 {
		return
	}
	proofs := newColumns(3)
	for k := range r.proofs {
		proofs.add(string(k.ws), string(k.mode), k.digest[:])
	}
	queueLoad(b, proofs, pgLoadProofs, r.takeProof)
}

func queueProofs(b *pgx.Batch, r *rows) {
	if len(r.swept) == 0 {
		return
	}
	swept, added := newColumns(3), newColumns(4)
	for p, at := range r.swept {
		swept.add(string(p.ws), string(p.mode), micros(at))
	}
	for k, x := range r.proofs {
		if x != nil && x.fresh {
			added.add(string(k.ws), string(k.mode), k.digest[:], micros(x.expiresAt))
		}
	}
	swept.queueTo(b, pgSweepProofs)
	added.queueTo(b, pgAddProofs)
}

const (
	sqliteAddProof    = `insert into proofs (workspace, mode, digest, expires_at) values ($1, $2, $3, $4)`
	sqliteSweepProofs = `delete from proofs where workspace = $1 and mode = $2 and expires_at < $3`

	pgLoadProofs = `select p.workspace, p.mode, p.digest, p.expires_at
		from unnest($1::text[], $2::text[], $3::bytea[]) k (workspace, mode, digest)
		cross join lateral (select * from proofs p where p.workspace = k.workspace and p.mode = k.mode and p.digest = k.digest offset 0) p`
	pgAddProofs   = `insert into proofs (workspace, mode, digest, expires_at) select * from unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[])`
	pgSweepProofs = `delete from proofs p using unnest($1::text[], $2::text[], $3::bigint[]) v (workspace, mode, at)
		where p.workspace = v.workspace and p.mode = v.mode and p.expires_at < v.at`
)

var sqliteProofs = newSQLiteLoad(3, `select workspace, mode, digest, expires_at from proofs where workspace = ? and mode = ? and digest = ?`)
