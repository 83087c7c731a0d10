package serve

import (
	"context"
	"errors"
	"fmt"

	"hodl/internal/backup"
	"hodl/internal/doctor"
	"hodl/internal/store"
)

// Backup writes the database of c to a file, whether servers run or not. The master
// key is not in it, but is needed to seal it.
func Backup(ctx context.Context, c Config, file string, progress func(stage string, done, total int64)) (sum *backup.Summary, err error) {
	c = c.withDefaults()
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
	return backup.Write(ctx, backup.Order{Snapshot: s, Master: master, Release: c.Release, Now: c.Now().UTC(), Progress: progress}, file)
}

// Restore makes the database of c from a backup and proves it: everything opens with
// the master key, no log has a gap. Nothing that is there is written over. With
// discard the result is thrown away: the backup is only proven.
func Restore(ctx context.Context, c Config, file string, discard bool, progress func(stage string, done, total int64)) (*backup.Summary, error) {
	c = c.withDefaults()
	if c.MasterKeyFile == "" {
		return nil, errors.New("a backup does not hold the master key: name the file that does with --master-key-file")
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	master, err := c.existingMaster()
	if err != nil {
		return nil, err
	}
	t := backup.Target{Options: c.options(nil), Master: master, Progress: progress, Verify: func(ctx context.Context, s *store.Snapshot) error {
		e := doctor.Examination{Options: c.options(nil), MasterKeyFile: c.MasterKeyFile, KeyRotation: c.KeyRotation, Now: c.Now, Progress: progress}
		return e.Prove(ctx, s, master)
	}}
	if discard {
		return backup.Check(ctx, file, t)
	}
	sum, err := backup.Restore(ctx, file, t)
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", file, err)
	}
	return sum, nil
}
