package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const fsyncRate = "disk: fdatasync of 8 KB"

// diskMeasures is the physical limit of everything durable: how often a second the
// disk takes 8 KB into a file that is already that long, and says so.
func diskMeasures(_ context.Context, dir string) ([]measure, func(), error) {
	f, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		return nil, nil, err
	}
	page := make([]byte, 8<<10)
	if _, err := f.Write(page); err != nil {
		return nil, nil, err
	}
	run := func(ctx context.Context, d time.Duration) (result, error) {
		return closedLoop(ctx, 1, d, func(context.Context, int, int) error {
			if _, err := f.WriteAt(page, 0); err != nil {
				return err
			}
			return unix.Fdatasync(int(f.Fd()))
		})
	}
	return []measure{{fsyncRate, "/s", run}}, func() { f.Close() }, nil
}
