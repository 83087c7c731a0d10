package serve

import (
	"context"
	"errors"
	"fmt"

	"hodl"
	"hodl/internal/seal"
	"hodl/internal/store"
)

// A RotateOrder says what to rotate.
type RotateOrder struct {
	Workspace string // the one by that name; all when empty
	DataKeys  bool
	Master    bool
	DryRun    bool // only count
	Progress  func(stage string, done, total int64)
}

// Rotated is what a rotation did, or with DryRun would do.
type Rotated struct {
	Workspaces int      `json:"workspaces"`
	Resumed    int      `json:"resumed"`        // of them begun by an earlier run
	Values     int64    `json:"values"`         // of workspaces, sealed anew
	Removed    int      `json:"removed"`        // older data keys
	Wrapped    int64    `json:"wrapped"`        // data keys and signing keys put under the master key
	Master     string   `json:"master_key"`     // id of the current one
	Unused     []string `json:"unused_masters"` // in the file, with nothing under them any more
	DryRun     bool     `json:"dry_run"`
}

// Rotate replaces keys while servers run. What it has done when it is killed is kept,
// and the next run goes on from there.
func Rotate(ctx context.Context, c Config, o RotateOrder) (out *Rotated, err error) {
	c = c.withDefaults()
	if o.DryRun {
		return foresee(ctx, c, o)
	}
	db, err := openExisting(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := o.workspaces(ctx, db)
	if err != nil {
		return nil, err
	}
	master, err := c.existingMaster()
	if err != nil {
		return nil, err
	}
	out = &Rotated{Master: master.ID(), Unused: []string{}}
	if o.Master {
		r, err := db.RotateMaster(ctx, list, func(n int64) { o.Progress("wrapping data keys", n, 0) })
		if err != nil {
			return nil, err
		}
		out.Wrapped, out.Unused = r.Keys+r.Values, append(out.Unused, r.Unused...)
	}
	if o.DataKeys {
		err = out.dataKeys(ctx, db, list, o.Progress)
	}
	return out, err
}

// openExisting opens a database that is there, and makes none.
func openExisting(ctx context.Context, c Config) (*store.Store, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s, err := store.OpenSnapshot(ctx, c.options(nil))
	if errors.Is(err, store.ErrNoDatabase) {
		return nil, err
	}
	if err == nil {
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
	return OpenStore(ctx, c) // what else was wrong, it says as well
}

func (o *RotateOrder) workspaces(ctx context.Context, db *store.Store) ([]hodl.WorkspaceID, error) {
	if o.Workspace == "" {
		return db.Workspaces(ctx)
	}
	w, err := db.WorkspaceNamed(ctx, o.Workspace)
	if err != nil {
		return nil, err
	}
	return []hodl.WorkspaceID{w.ID}, nil
}

// dataKeys rotates workspace after workspace. One with values that do not open does
// not keep the others from theirs.
func (r *Rotated) dataKeys(ctx context.Context, db *store.Store, list []hodl.WorkspaceID, progress func(string, int64, int64)) error {
	var spoilt []error
	for i, ws := range list {
		stage := fmt.Sprintf("sealing anew, workspace %d of %d", i+1, len(list))
		progress(stage, 0, 0)
		got, err := db.RotateDataKey(ctx, ws, func(n int64) { progress(stage, n, 0) })
		r.Values += got.Values
		r.Removed += got.Removed
		if got.Resumed {
			r.Resumed++
		}
		switch {
		case errors.Is(err, store.ErrUnreadable):
			spoilt = append(spoilt, err)
		case err != nil:
			return err
		default:
			r.Workspaces++
		}
	}
	return errors.Join(spoilt...)
}

// foresee counts what a rotation would do.
func foresee(ctx context.Context, c Config, o RotateOrder) (out *Rotated, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s, err := store.OpenSnapshot(ctx, c.options(nil))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	master, err := c.existingMaster()
	if err != nil {
		return nil, err
	}
	list, err := s.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	out = &Rotated{Master: master.ID(), Unused: []string{}, DryRun: true}
	for _, ws := range list {
		if err := out.count(ctx, s, ws, o); err != nil {
			return nil, err
		}
	}
	if !o.Master {
		return out, nil
	}
	values, err := s.ServerSealed(ctx)
	for _, v := range values {
		if seal.MasterOf(v.Value) != master.ID() {
			out.Wrapped++
		}
	}
	return out, err
}

func (r *Rotated) count(ctx context.Context, s *store.Snapshot, ws hodl.WorkspaceID, o RotateOrder) error {
	if o.Workspace != "" {
		name, err := s.WorkspaceName(ctx, ws)
		if err != nil || name != o.Workspace {
			return err
		}
	}
	keys, err := s.DataKeys(ctx, ws)
	if err != nil {
		return err
	}
	if o.Master {
		for _, k := range keys {
			if seal.MasterOf(k.Wrapped) != r.Master {
				r.Wrapped++
			}
		}
	}
	if !o.DataKeys {
		return nil
	}
	r.Workspaces++
	r.Removed += max(len(keys)-1, 1)
	if len(keys) > 1 {
		r.Resumed++
	}
	current := keys[len(keys)-1].Version
	if len(keys) == 1 {
		current++
	}
	n, err := s.CountSealedBefore(ctx, ws, current)
	r.Values += n
	return err
}
