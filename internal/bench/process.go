package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"
)

// A process is a server that runs beside the bench, so that what it costs can be told
// from what the load costs. It ends with the bench, however that ends.
type process struct {
	address string
	key     string // of a first start of ours
	cmd     *exec.Cmd
}

// The kernel ends a child when the thread that started it ends: the first thread,
// which lives as long as the program, starts them all.
func init() { runtime.LockOSThread() }

// startProcess starts a server and waits for its address, which it prints as JSON,
// as hodl serve does.
func startProcess(ctx context.Context, program string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd}
	var said struct {
		URL  string `json:"url"`
		Keys []struct {
			Key string `json:"key"`
		} `json:"keys"`
	}
	if err := json.UnmarshalDecode(jsontext.NewDecoder(out), &said); err != nil {
		p.stop()
		return nil, fmt.Errorf("%s printed no address: %w", program, err)
	}
	p.address = strings.TrimPrefix(said.URL, "http://")
	if len(said.Keys) > 0 {
		p.key = said.Keys[0].Key
	}
	return p, nil
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// processor is the time the process has spent on processors, its own and the
// kernel's for it, to the nanosecond: the clock of clock_getcpuclockid(3).
func (p *process) processor() (time.Duration, error) {
	const scheduled = 2
	var t unix.Timespec
	err := unix.ClockGettime(^int32(p.cmd.Process.Pid)<<3|scheduled, &t)
	return time.Duration(t.Nano()), err
}

// release builds the program as it is released, once a run.
func release(ctx context.Context, dir string) (string, error) {
	binary, err := filepath.Abs(filepath.Join(dir, "hodl"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "hodl/cmd/hodl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return binary, nil
}
