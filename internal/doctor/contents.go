package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hodl"
	"hodl/internal/seal"
	"hodl/internal/store"
	"hodl/internal/token"
)

// A tour reads every workspace once.
type tour struct {
	*Examination
	s      *store.Snapshot
	master *seal.Master

	keys, sealed, logs, counters faults
	dataKeys, values, records    int64
	total                        int64 // values there are
	unfinished                   int   // workspaces with a rotation to finish
	older                        map[string]bool
	newest                       time.Time
}

// contents proves that everything sealed opens, that logs have no gap and that
// counters are what was recorded.
func (e *Examination) contents(ctx context.Context, s *store.Snapshot, master *seal.Master) {
	t := &tour{Examination: e, s: s, master: master, older: map[string]bool{}}
	if master != nil {
		t.signing(ctx)
	}
	list, err := s.Workspaces(ctx)
	if err != nil {
		e.broken("workspaces", err)
		return
	}
	if master != nil {
		for _, ws := range list {
			n, err := s.CountSealed(ctx, ws)
			if err != nil {
				e.broken("sealed values", err)
				return
			}
			t.total += n
		}
	}
	for _, ws := range list {
		if err := t.workspace(ctx, ws); err != nil {
			e.broken("workspace "+string(ws), err)
			return
		}
	}
	t.tell(len(list))
}

func (t *tour) workspace(ctx context.Context, ws hodl.WorkspaceID) error {
	if t.master != nil {
		if err := t.open(ctx, ws); err != nil {
			return err
		}
	}
	heads, err := t.s.LogHeads(ctx, ws)
	if err != nil {
		return err
	}
	for _, m := range []hodl.Mode{hodl.Live, hodl.Sandbox} {
		l := &logTour{tour: t, ws: ws, m: m, head: heads[m], hydrations: map[string]int64{}, erased: map[hodl.UserID]int64{}}
		if err := l.walk(ctx); err != nil {
			return err
		}
	}
	return t.s.EachMisfit(ctx, ws, func(m store.Misfit) error {
		t.counters.add("%s: %s", ws, m.What)
		return nil
	})
}

// open unwraps every data key of a workspace and opens every value sealed with one.
func (t *tour) open(ctx context.Context, ws hodl.WorkspaceID) error {
	list, err := t.s.DataKeys(ctx, ws)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		t.keys.add("%s has no data key", ws)
	}
	kept := keptKeys{}
	for _, k := range list {
		t.dataKeys++
		if _, err := t.master.Unwrap(ws, k.Version, k.Wrapped); err != nil {
			t.keys.add("%v", err)
		}
		if id := seal.MasterOf(k.Wrapped); id != t.master.ID() {
			t.older[id] = true
		}
		kept[k.Version] = k.Wrapped
	}
	if len(list) > 1 {
		t.unfinished++
	}
	ring := seal.NewRing(t.master, kept)
	return t.s.EachSealed(ctx, ws, func(v store.SealedValue) error {
		if t.values++; t.values%256 == 0 {
			t.Progress("opening sealed values", t.values, t.total)
		}
		if _, err := ring.Open(ctx, ws, v.Purpose, v.Object, v.Value); err != nil {
			t.sealed.add("%s: %s: %s", ws, v.Place, reason(err))
		}
		return ctx.Err()
	})
}

// reason is the end of an error's story: what opening came to.
func reason(err error) string {
	for _, known := range []error{seal.ErrCorrupt, seal.ErrWrongMaster, errNoKey} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// keptKeys are the data keys of one workspace, for [seal.NewRing].
type keptKeys map[uint32][]byte

var errNoKey = errors.New("its data key is not there")

func (k keptKeys) DataKey(_ context.Context, _ hodl.WorkspaceID, version uint32) ([]byte, error) {
	if wrapped, ok := k[version]; ok {
		return wrapped, nil
	}
	return nil, errNoKey
}

// CurrentDataKey is never asked: nothing is sealed here.
func (k keptKeys) CurrentDataKey(context.Context, hodl.WorkspaceID) (uint32, error) {
	return 0, errNoKey
}

func (t *tour) usage(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, recorded map[string]int64) error {
	counted, err := t.s.Usage(ctx, ws, m)
	for month := range recorded {
		counted[month] += 0
	}
	for month, n := range counted {
		if n != recorded[month] {
			t.counters.add("%s %s: %d hydrations counted in %s and %d recorded", ws, m, n, month, recorded[month])
		}
	}
	return err
}

// tell reports on all workspaces.
func (t *tour) tell(workspaces int) {
	const fromBackup = "restore the last backup with hodl restore into another place, and compare"
	if t.master != nil {
		t.verdict("data keys", &t.keys, fmt.Sprintf("%d of %d workspaces, all open", t.dataKeys, workspaces), "add the master key they were wrapped with below the current one in "+t.MasterKeyFile)
		t.verdict("sealed values", &t.sealed, fmt.Sprintf("%d, all open", t.values), fromBackup)
		t.rotation()
	}
	t.verdict("access logs", &t.logs, fmt.Sprintf("%d records without a gap, each bound by its commitment, under a signed root", t.records), "records were changed past hodl: find out by whom; "+fromBackup)
	t.verdict("counters", &t.counters, "hydrations counted are hydrations recorded", fromBackup)
	if ahead := t.newest.Sub(t.Now()); ahead > skewMost {
		t.fail("last record", "it is "+ahead.Round(time.Second).String()+" in the future", "set this machine's clock by NTP")
	}
}

func (t *tour) rotation() {
	switch {
	case t.unfinished > 0:
		t.warn("rotation", fmt.Sprintf("%d workspaces hold values under an older data key", t.unfinished), "run hodl seal rotate: it goes on where it stopped")
	case len(t.older) > 0:
		t.warn("rotation", "some keys are still wrapped under an older master key", "run hodl seal rotate --master")
	default:
		t.ok("rotation", "nothing is left under an older key")
	}
}

// signing looks at the keys that tokens are signed with.
func (t *tour) signing(ctx context.Context) {
	keys, err := t.s.SigningKeys(ctx)
	if err != nil {
		t.broken("signing keys", err)
		return
	}
	f := &faults{}
	ring := seal.NewRing(t.master, nil)
	values, err := t.s.ServerSealed(ctx)
	if err != nil {
		t.broken("signing keys", err)
		return
	}
	for _, v := range values {
		if id := seal.MasterOf(v.Value); id != t.master.ID() {
			t.older[id] = true
		}
		if _, err := ring.OpenServer(v.Purpose, v.Object, v.Value); err != nil {
			f.add("%s: %s", v.Place, reason(err))
		}
	}
	if f.n > 0 {
		t.fail("signing keys", f.String(), "add the master key they were sealed with below the current one in "+t.MasterKeyFile)
		return
	}
	t.schedule(keys)
}

// schedule looks at whose turn it is.
func (t *tour) schedule(keys []store.SigningKey) {
	stored := make([]token.Stored, len(keys))
	for i, k := range keys {
		stored[i] = token.Stored{KID: k.KID, Public: k.Public, CreatedAt: k.CreatedAt, SignsFrom: k.SignsFrom, SignsUntil: k.SignsUntil, ServedUntil: k.ServedUntil}
	}
	now := t.Now()
	turn, ok := token.Signing(now, stored)
	due := token.Rotate(now, stored, t.KeyRotation)
	switch {
	case !ok:
		t.warn("signing keys", "none has its turn now", "hodl serve makes one when it starts; if a server runs, look at its clock and its log")
	case due.Create != nil:
		t.warn("signing keys", "the successor of "+turn.KID+" is due and not made", "a running server makes it within a minute: if one runs, look at its log")
	default:
		until := turn.SignsUntil
		if until.IsZero() {
			until = turn.SignsFrom.Add(t.KeyRotation)
		}
		t.ok("signing keys", fmt.Sprintf("%s signs until %s; %d published", turn.KID, until.UTC().Format("2006-01-02 15:04"), len(token.Served(now, stored))))
	}
}
