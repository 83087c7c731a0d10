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
func startMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	data, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		return nil, nil, err
	}
	binary, err := release(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	ours := command{"/readyz", binary, []string{"serve", "--json", "--listen", "127.0.0.1:0", "--data", data}}
	return []measure{
		{coldStart, "ms", ours.start(started.milliseconds)},
		{startWork, "ms CPU", ours.start(func(s started) float64 { return float64(s.worked.Microseconds()) / 1e3 })},
		{idleMemory, "MB", ours.start(started.megabytes)},
		{binarySize, "MB", func(context.Context, time.Duration) (result, error) {
			info, err := os.Stat(binary)
			if err != nil {
				return result{}, err
			}
			return result{value: float64(info.Size()) / 1e6}, nil
		}},
	}, func() {}, nil
}

// A command starts a server, which prints where it is as hodl serve does and answers
// probe.
type command struct {
	probe   string
	program string
	args    []string
}

// A started is a start: how long it took, what it took of the processor, and how many
// bytes the server then held in memory.
type started struct {
	took, worked time.Duration
	resident     int64
}

func (s started) milliseconds() float64 { return float64(s.took.Microseconds()) / 1e3 }
func (s started) megabytes() float64    { return float64(s.resident) / 1e6 }

// start measures a figure of a start.
func (c command) start(figure func(started) float64) func(context.Context, time.Duration) (result, error) {
	return func(ctx context.Context, _ time.Duration) (result, error) {
		s, err := c.run(ctx)
		return result{value: figure(s)}, err
	}
}

var resident = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`)

// run runs the server until it answered once.
func (c command) run(ctx context.Context) (s started, err error) {
	before := time.Now()
	p, err := startProcess(ctx, c.program, c.args...)
	if err != nil {
		return s, err
	}
	defer p.stop()
	answer, err := http.Get("http://" + p.address + c.probe)
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
