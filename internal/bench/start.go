package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"time"
)

const (
	coldStart  = "program: cold start to first answer"
	startWork  = "program: its processor time until then"
	idleMemory = "program: memory when idle"
	binarySize = "program: size of the binary"
)

// startMeasures start the program as it is released, on SQLite.
func startMeasures(_ context.Context, dir string) ([]measure, func(), error) {
	data, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		return nil, nil, err
	}
	of := func(figure func(ctx context.Context, binary string) (float64, error)) func(context.Context, time.Duration) (result, error) {
		return func(ctx context.Context, _ time.Duration) (result, error) {
			binary, err := release(ctx, dir)
			if err != nil {
				return result{}, err
			}
			value, err := figure(ctx, binary)
			return result{value: value}, err
		}
	}
	return []measure{
		{coldStart, "ms", of(func(ctx context.Context, binary string) (float64, error) {
			s, err := start(ctx, binary, data)
			return float64(s.took.Microseconds()) / 1e3, err
		})},
		{startWork, "ms CPU", of(func(ctx context.Context, binary string) (float64, error) {
			s, err := start(ctx, binary, data)
			return float64(s.worked.Microseconds()) / 1e3, err
		})},
		{idleMemory, "MB", of(func(ctx context.Context, binary string) (float64, error) {
			s, err := start(ctx, binary, data)
			return float64(s.resident) / 1e6, err
		})},
		{binarySize, "MB", of(func(_ context.Context, binary string) (float64, error) {
			info, err := os.Stat(binary)
			if err != nil {
				return 0, err
			}
			return float64(info.Size()) / 1e6, nil
		})},
	}, func() {}, nil
}

// A started is a start: how long it took, what it took of the processor, and how many
// bytes the server then held in memory.
type started struct {
	took, worked time.Duration
	resident     int64
}

var resident = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`)

// start runs the server until it answered once.
func start(ctx context.Context, binary, data string) (s started, err error) {
	before := time.Now()
	p, err := startProcess(ctx, binary, "serve", "--json", "--listen", "127.0.0.1:0", "--data", data)
	if err != nil {
		return s, err
	}
	defer p.stop()
	answer, err := http.Get("http://" + p.address + "/readyz")
	if err != nil {
		return s, err
	}
	answer.Body.Close()
	s.took = time.Since(before)
	if s.worked, err = p.processor(); err != nil {
		return s, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return s, err
	}
	found := resident.FindSubmatch(status)
	if found == nil {
		return s, fmt.Errorf("no VmRSS in /proc")
	}
	kb, err := strconv.ParseInt(string(found[1]), 10, 64)
	s.resident = kb << 10
	return s, err
}
