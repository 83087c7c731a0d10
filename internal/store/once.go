package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hodl"
)

// KeptFor is how long a repeat gets the answer of the first.
const KeptFor = 24 * time.Hour

const purposeAnswer = "answer"

// A Once is a request that takes effect once, however often it is sent. The edge
// puts it into the context, [Store.Once] says who is asking, and the one write that
// the request makes keeps the answer in its own transaction.
type Once struct {
	Key     string          // the client's name for the request
	Route   string          // the operation, such as POST /v1/hodls
	Request func() [32]byte // digest of what must be the same in a repeat; it reads the request to its end

	// Encode turns what the core returns to the edge into the bytes to keep.
	Encode func(result any) ([]byte, error)

	key    onceKey
	begun  bool
	result any
	kept   []byte
}

// IsOnceKey reports whether s may name a request: 1 to 255 visible ASCII characters.
func IsOnceKey(s string) bool {
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}

// Kept is the answer that is in the database; nil before the write.
func (o *Once) Kept() []byte { return o.kept }

// A Repeat is the error of a request that took effect before: it is to be answered
// as it was then, and nothing has changed.
type Repeat struct{ Answer []byte }

func (*Repeat) Error() string { return "the request was answered before" }

type onceContext struct{}

// WithOnce returns a context under which the request o takes effect once.
func WithOnce(ctx context.Context, o *Once) context.Context {
	return context.WithValue(ctx, onceContext{}, o)
}

// OnceOf returns the request that takes effect once, nil when it is an ordinary one.
func OnceOf(ctx context.Context) *Once {
	o, _ := ctx.Value(onceContext{}).(*Once)
	return o
}

// Result says, ahead of the write, what the caller of the core will be told when
// the write succeeds. Without an idempotency key nobody asks.
func Result(ctx context.Context, result any) {
	if o := OnceOf(ctx); o != nil {
		o.result = result
	}
}

// onceKey is where the answer lies. The name tells apart who asked, what for, and
// the client's key: SHA-256 in hex.
type onceKey struct {
	partition
	name string
}

func (k onceKey) compare(o onceKey) int {
	return cmp.Or(k.partition.compare(o.partition), cmp.Compare(k.name, o.name))
}

type onceRow struct {
	request [32]byte
	answer  []byte // sealed
	expires time.Time
	fresh   bool
}

// nameOf hashes a list of texts, each behind its length: no two lists are the same
// bytes.
func nameOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Once begins the request that ctx holds, for a credential that may make it. The
// caller runs end when it has answered. The error is a [*Repeat] when the request
// took effect before, [hodl.IdempotencyMismatch] when its key named another one, and
// [hodl.Conflict] while an equal one is being answered by this server. Between
// servers it is the write that decides.
func (s *Store) Once(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, credential string) (end func(), err error) {
	end = func() {}
	o := OnceOf(ctx)
	if o == nil {
		return end, nil
	}
	o.key = onceKey{partition{ws, m}, nameOf(credential, o.Route, o.Key)}
	if _, busy := s.answering.LoadOrStore(o.key, true); busy {
		e := hodl.Errorf(hodl.Conflict, "a request with this Idempotency-Key is being answered").WithHint("send it again after the time in Retry-After; the answer will be the same")
		e.RetryAfter = time.Second
		return end, e
	}
	end = func() { s.answering.Delete(o.key) }
	if err := s.repeat(ctx, o); err != nil {
		end()
		return func() {}, err
	}
	o.begun = true
	return end, nil
}

// Item returns a context for the i-th of the writes that one request makes: each
// takes effect once and keeps an answer of its own. encode is as [Once.Encode];
// without an idempotency key it returns ctx.
func Item(ctx context.Context, i int, encode func(result any) ([]byte, error)) context.Context {
	o := OnceOf(ctx)
	if o == nil {
		return ctx
	}
	item := &Once{Key: o.Key, Route: o.Route, Request: o.Request, Encode: encode, key: o.key, begun: o.begun}
	item.key.name = nameOf(o.key.name, strconv.Itoa(i))
	return WithOnce(ctx, item)
}

// Keep keeps the answer of a request that had nothing to write.
func (s *Store) Keep(ctx context.Context, answer []byte) error {
	o := OnceOf(ctx)
	o.Encode = func(any) ([]byte, error) { return answer, nil }
	return s.write(ctx, &write{need: func(*rows) {}, decide: func(*rows) error { return nil }})
}

// write submits x, which holds nothing sealed: else see [Store.submit]. Under an
// idempotency key x keeps its answer, or is not made because one is kept already, and
// the error tells which.
func (s *Store) write(ctx context.Context, x *write) error {
	return s.submit(ctx, func() (*write, error) { return x, nil })
}

// keeping returns x as it is submitted, and what turns the writer's verdict into
// that of the caller.
func (s *Store) keeping(ctx context.Context, x *write) (*write, func(error) error, error) {
	o := OnceOf(ctx)
	if o == nil {
		return x, func(err error) error { return err }, nil
	}
	row, answer, err := s.answerRow(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	var before *onceRow
	kept := &write{
		seals: append(sealedWith(o.key.ws, row.answer), x.seals...),
		need:  func(r *rows) { x.need(r); r.wantOnce(o.key) },
		decide: func(r *rows) error {
			if before = r.once[o.key]; before != nil {
				return nil
			}
			if err := x.decide(r); err != nil {
				return err
			}
			r.once[o.key] = row
			return nil
		},
	}
	return kept, func(err error) error {
		switch {
		case err == nil && before != nil:
			err := s.asBefore(ctx, o, before)
			if errors.Is(err, errKeyGone) {
				err = s.repeat(ctx, o)
			}
			return err
		case err == nil:
			o.kept = answer
		}
		return err
	}, nil
}

// changeOnce is change under an idempotency key. Whatever the change ran into, when
// the answer is there meanwhile another server has just made it.
func (s *Store) changeOnce(ctx context.Context, o *Once, ws hodl.WorkspaceID, change func(*sql.Tx) error) error {
	if ws != o.key.ws {
		ws += "," + o.key.ws // what belongs to one workspace is answered to a key of another
	}
	answer, err := s.changeAndAnswer(ctx, o, ws, change)
	for n := 1; errors.Is(err, errRetired) && n < mostSealings; n++ {
		s.ring.Forget(o.key.ws)
		answer, err = s.changeAndAnswer(ctx, o, ws, change)
	}
	if err == nil {
		o.kept = answer
		return nil
	}
	if hodl.CodeOf(err) == hodl.Unavailable {
		return err
	}
	if again := s.repeat(ctx, o); again != nil {
		return again
	}
	return err
}

func (s *Store) changeAndAnswer(ctx context.Context, o *Once, ws hodl.WorkspaceID, change func(*sql.Tx) error) (answer []byte, err error) {
	err = s.engine.change(ctx, s.writer, ws, func(tx *sql.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		row, plain, err := s.answerRow(ctx, o)
		if err != nil {
			return err
		}
		if err := s.claimDataKey(ctx, tx, sealedWith(o.key.ws, row.answer)[0]); err != nil {
			return err
		}
		answer = plain
		k := &o.key
		_, err = tx.ExecContext(ctx, sqliteAddOnce, k.ws, k.mode, k.name, row.request[:], row.answer, micros(row.expires))
		return err
	})
	return answer, err
}

// answerRow seals the answer that o will have when its write succeeds.
func (s *Store) answerRow(ctx context.Context, o *Once) (*onceRow, []byte, error) {
	switch {
	case !o.begun:
		return nil, nil, fmt.Errorf("%s writes before it is known who asks", o.Route)
	case o.kept != nil:
		return nil, nil, fmt.Errorf("%s writes twice: a crash between would leave half an effect", o.Route)
	case o.Encode == nil:
		return nil, nil, fmt.Errorf("%s writes and does not say what it will answer", o.Route)
	}
	answer, err := o.Encode(o.result)
	if err != nil {
		return nil, nil, wrap(err, "encode the answer of %s", o.Route)
	}
	sealed, err := s.ring.Seal(ctx, o.key.ws, purposeAnswer, o.key.object(), answer)
	return &onceRow{request: o.Request(), answer: sealed, expires: s.now().Add(KeptFor), fresh: true}, answer, wrap(err, "seal the answer")
}

func (k *onceKey) object() string { return objectOf(k.mode, k.name) }

// repeat looks for an answer that is kept, and returns it as an error.
func (s *Store) repeat(ctx context.Context, o *Once) error {
	return rereading(func() error {
		row := &onceRow{}
		err := s.view(ctx, o.key.ws, func(q querier) error {
			return scanOnce(row, q.QueryRowContext(ctx, `select request, answer from idempotency_keys where workspace = $1 and mode = $2 and name = $3`,
				o.key.ws, o.key.mode, o.key.name))
		})
		if there, err := found(err); err != nil || !there {
			return err
		}
		return s.asBefore(ctx, o, row)
	})
}

func (s *Store) asBefore(ctx context.Context, o *Once, row *onceRow) error {
	if row.request != o.Request() {
		return hodl.Errorf(hodl.IdempotencyMismatch, "this Idempotency-Key was sent before with another request").
			WithHint("send the very same request, or choose a new key for a new one")
	}
	answer, err := s.ring.Open(ctx, o.key.ws, purposeAnswer, o.key.object(), row.answer)
	if err != nil {
		return wrap(err, "open the answer kept for %s", o.Route)
	}
	return &Repeat{answer}
}

// sweepStep is how many answers one transaction forgets.
const sweepStep = 500

// ForgetAnswers deletes the answers that were kept long enough, a few at a time, and
// returns how many.
func (s *Store) ForgetAnswers(ctx context.Context) (int64, error) {
	var total int64
	for {
		n, err := s.forgetSome(ctx)
		total += n
		if err != nil || n < sweepStep {
			return total, err
		}
	}
}

func (s *Store) forgetSome(ctx context.Context) (n int64, err error) {
	now := micros(s.now())
	err = s.engine.change(ctx, s.writer, "", func(tx *sql.Tx) error {
		if s.Engine() == "postgres" {
			if _, err := tx.ExecContext(ctx, `select set_config('hodl.expired_before', $1, true)`, fmt.Sprint(now)); err != nil {
				return err
			}
		}
		r, err := tx.ExecContext(ctx, `delete from idempotency_keys where (workspace, mode, name) in
			(select workspace, mode, name from idempotency_keys where expires_at < $1 order by expires_at limit $2)`, now, sweepStep)
		if err != nil {
			return err
		}
		n, err = r.RowsAffected()
		return err
	})
	return n, wrap(err, "forget answers")
}
