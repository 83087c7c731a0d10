package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	coldStart  = "program: cold start to first answer"
	idleMemory = "program: memory when idle"
	binarySize = "program: size of the binary"
)

// startMeasures build the binary as it is released and start it on SQLite.
func startMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	binary, err := filepath.Abs(filepath.Join(dir, "hodl"))
	if err != nil {
		return nil, nil, err
	}
	build := sync.OnceValue(func() error {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "hodl/cmd/hodl")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w: %s", err, out)
		}
		return nil
	})
	data, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		return nil, nil, err
	}
	return []measure{
		{coldStart, "ms", func(ctx context.Context, _ time.Duration) (result, error) {
			if err := build(); err != nil {
				return result{}, err
			}
			took, _, err := start(ctx, binary, data)
			return result{value: float64(took.Microseconds()) / 1e3}, err
		}},
		{idleMemory, "MB", func(ctx context.Context, _ time.Duration) (result, error) {
			if err := build(); err != nil {
				return result{}, err
			}
			_, resident, err := start(ctx, binary, data)
			return result{value: float64(resident) / 1e6}, err
		}},
		{binarySize, "MB", func(context.Context, time.Duration) (result, error) {
			if err := build(); err != nil {
				return result{}, err
			}
			info, err := os.Stat(binary)
			if err != nil {
				return result{}, err
			}
			return result{value: float64(info.Size()) / 1e6}, nil
		}},
	}, func() {}, nil
}

var (
	listening = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	resident  = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`)
)

// start runs the server until it answered once, and tells how long that took and
// what it then held in memory.
func start(ctx context.Context, binary, data string) (time.Duration, int64, error) {
	before := time.Now()
	cmd := exec.CommandContext(ctx, binary, "serve", "--listen", "127.0.0.1:0", "--data", data)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		url := listening.FindString(lines.Text())
		if url == "" {
			continue
		}
		answer, err := http.Get(url + "/readyz")
		if err != nil {
			return 0, 0, err
		}
		answer.Body.Close()
		took := time.Since(before)
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			return 0, 0, err
		}
		found := resident.FindSubmatch(status)
		if found == nil {
			return took, 0, fmt.Errorf("no VmRSS in /proc")
		}
		kb, err := strconv.ParseInt(string(found[1]), 10, 64)
		return took, kb << 10, err
	}
	return 0, 0, fmt.Errorf("the server printed no address")
}
