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
			took, _, err := start(ctx, binary, data)
			return float64(took.Microseconds()) / 1e3, err
		})},
		{idleMemory, "MB", of(func(ctx context.Context, binary string) (float64, error) {
			_, resident, err := start(ctx, binary, data)
			return float64(resident) / 1e6, err
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

var resident = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`)

// start runs the server until it answered once, and tells how long that took and
// what it then held in memory.
func start(ctx context.Context, binary, data string) (time.Duration, int64, error) {
	before := time.Now()
	p, err := startProcess(ctx, binary, "serve", "--json", "--listen", "127.0.0.1:0", "--data", data)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	answer, err := http.Get("http://" + p.address + "/readyz")
	if err != nil {
		return 0, 0, err
	}
	answer.Body.Close()
	took := time.Since(before)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
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
