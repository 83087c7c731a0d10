package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"hodl/internal/seal"
)

// folder looks at who may reach the data.
func (e *Examination) folder() {
	dir := e.Options.Dir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		e.warn("folder", dir+" is not there", "hodl serve makes it; if there should be one, look at --data")
		return
	case err != nil:
		e.broken("folder", err)
		return
	case !info.IsDir():
		e.fail("folder", dir+" is no folder", "choose another with --data")
		return
	}
	if runtime.GOOS == "windows" { // it has no such bits; access lists guard the folder
		e.ok("folder", dir)
		return
	}
	e.modes(dir, info.Mode().Perm())
}

// modes looks at who may read the files, and who may put others in their place.
func (e *Examination) modes(dir string, mode os.FileMode) {
	files, err := filepath.Glob(filepath.Join(dir, "hodl.db*"))
	if err != nil {
		e.broken("folder", err)
		return
	}
	var open faults
	if mode&0o022 != 0 {
		open.add("%s has mode %04o", dir, mode)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
			open.add("%s has mode %04o", file, info.Mode().Perm())
		}
	}
	if open.n == 0 && mode&0o055 != 0 {
		e.warn("folder", fmt.Sprintf("%s has mode %04o, so others can see what lies in it; the files are their owner's alone", dir, mode), "run chmod 700 "+dir)
		return
	}
	e.verdict("folder", &open, dir+" is its owner's alone", "others on this machine can reach the data: run chmod 700 on the folder and chmod 600 on its files")
}

// master looks at the master key file, and returns what it holds.
func (e *Examination) master() *seal.Master {
	m, err := seal.LoadMaster(e.MasterKeyFile)
	switch {
	case errors.Is(err, os.ErrNotExist) && e.Options.Absent():
		e.warn("master key", e.MasterKeyFile+" is not there", "hodl serve makes it with the database")
	case errors.Is(err, os.ErrNotExist):
		e.fail("master key", e.MasterKeyFile+" is not there", "put it back from where you keep its copy: without it no session can be read")
	case err != nil:
		e.fail("master key", err.Error(), "see that the file holds one base64 key a line and is its owner's alone")
	case len(m.IDs()) > 1:
		e.ok("master key", fmt.Sprintf("%s holds %s and %d older", e.MasterKeyFile, m.ID(), len(m.IDs())-1))
	default:
		e.ok("master key", e.MasterKeyFile+" holds "+m.ID())
	}
	return m
}

const (
	mib         = 1 << 20
	spaceEnough = 1024 * mib
	spaceLeast  = 64 * mib
	flushSlow   = 50 * time.Millisecond
)

// disk looks at the room there is, and at how long a commit must wait.
func (e *Examination) disk() {
	if _, err := os.Stat(e.Options.Dir); err != nil {
		return // folder has told
	}
	free, err := freeSpace(e.Options.Dir)
	switch mend := "free some: a full disk refuses every write"; {
	case err != nil:
		e.broken("disk space", err)
	case free < spaceLeast:
		e.fail("disk space", fmt.Sprintf("%d MiB are free", free/mib), mend)
	case free < spaceEnough:
		e.warn("disk space", fmt.Sprintf("%d MiB are free", free/mib), mend)
	default:
		e.ok("disk space", fmt.Sprintf("%.1f GiB are free", float64(free)/(1024*mib)))
	}
	took, err := e.flush()
	detail := fmt.Sprintf("a flush takes %s, and a commit waits for one", took.Round(10*time.Microsecond))
	switch {
	case err != nil:
		e.fail("disk flush", "could not write in the folder: "+err.Error(), "see that the user hodl runs as owns "+e.Options.Dir)
	case took > flushSlow:
		e.warn("disk flush", detail, "hydrations are this slow as well: use a local disk, best one with power-loss protection")
	default:
		e.ok("disk flush", detail)
	}
}

// flush is how long it takes, at the median, until 4 KiB are on the disk.
func (e *Examination) flush() (took time.Duration, err error) {
	f, err := os.CreateTemp(e.Options.Dir, "doctor-*.tmp")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	const rounds = 9
	block := make([]byte, 4096)
	times := make([]time.Duration, rounds)
	for i := range times {
		start := e.Now()
		if _, err := f.WriteAt(block, 0); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times[i] = e.Now().Sub(start)
	}
	slices.Sort(times)
	return times[rounds/2], nil
}

// address looks at who is at the address the server is to serve on.
func (e *Examination) address(ctx context.Context) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", e.Listen)
	if err == nil {
		_ = l.Close() // it was only to see
		e.ok("address", e.Listen+" is free: no server runs there")
		return
	}
	switch release, answers := whoAnswers(ctx, e.Listen); {
	case answers:
		e.ok("address", "a hodl server runs at "+e.Listen+", release "+release)
	default:
		e.fail("address", err.Error(), "choose another address with --listen, or stop what uses this one")
	}
}

// whoAnswers asks for the release of a hodl server.
func whoAnswers(ctx context.Context, address string) (release string, ok bool) {
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return "", false
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return "", false
	}
	defer answer.Body.Close()
	var health struct {
		Status  string `json:"status"`
		Release string `json:"release"`
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, answer.Body, 4096)).Decode(&health)
	return health.Release, err == nil && health.Status == "ok"
}
