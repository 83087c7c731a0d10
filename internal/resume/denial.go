package resume

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"hodl"
)

// deniedEvery is how often equal refusals of one token are recorded; the record
// tells how many it stands for.
const deniedEvery = time.Minute

// denials counts refusals between two records of the same kind.
type denials struct {
	mu   sync.Mutex
	open map[denial]*denied
}

type denial struct {
	credential string
	code       hodl.Code
}

type denied struct {
	use        *use
	recordedAt time.Time
	unrecorded int
}

func newDenials() *denials { return &denials{open: map[denial]*denied{}} }

// count adds a refusal and returns how many the next record stands for, 0 when it
// is too early for one.
func (d *denials) count(u *use, code hodl.Code) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := denial{u.credential(), code}
	x := d.open[k]
	if x == nil {
		d.open[k] = &denied{use: u, recordedAt: u.rows.At}
		return 1
	}
	x.use = u
	x.unrecorded++
	if u.rows.At.Sub(x.recordedAt) < deniedEvery {
		return 0
	}
	n := x.unrecorded
	x.unrecorded, x.recordedAt = 0, u.rows.At
	return n
}

// due returns the counts that have waited long enough, and forgets the tokens that
// have been quiet.
func (d *denials) due(now time.Time, all bool) map[denial]denied {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[denial]denied{}
	for k, x := range d.open {
		if !all && now.Sub(x.recordedAt) < deniedEvery {
			continue
		}
		if x.unrecorded > 0 {
			out[k] = *x
		}
		delete(d.open, k)
	}
	return out
}

// refuse records a refusal whose token had a good signature, and returns it. A
// fault of ours is no refusal. The record is written before the caller is told; if
// it cannot be, the caller is still refused.
func (s *Service) refuse(ctx context.Context, u *use, err error) error {
	code := hodl.CodeOf(err)
	if e, _ := errors.AsType[*hodl.Error](err); e != nil && e.NeedsNonce {
		return err // how a caller gets its first nonce
	}
	if err == nil || u == nil || code == hodl.Unavailable || code == hodl.Internal && !errors.Is(err, errEngine) {
		return err
	}
	if n := s.denials.count(u, code); n > 0 {
		s.deny(ctx, u, code, n)
	}
	return err
}

func (s *Service) deny(ctx context.Context, u *use, code hodl.Code, n int) {
	rec := u.record(hodl.RecordID(s.store.NewID("acr")), hodl.KindDenied)
	rec.Code, rec.Count = code, n
	if err := s.store.Append(ctx, rec, u.Detail); err != nil {
		s.options.Log.WarnContext(ctx, "a denial was not recorded", slog.String("credential", u.credential()), slog.String("code", string(code)), slog.Any("error", err))
	}
}

// FlushDenials records the refusals counted since their last record: those a
// minute old, or all.
func (s *Service) FlushDenials(ctx context.Context, all bool) {
	for k, x := range s.denials.due(s.store.Now(), all) {
		s.deny(ctx, x.use, k.code, x.unrecorded)
	}
}
