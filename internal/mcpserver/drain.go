package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// A drain holds the end of the input back until what was asked is answered: the SDK
// ends with its input, and whoever pipes requests in and closes would get nothing.
type drain struct {
	out io.Writer

	mu       sync.Mutex
	open     int // requests without an answer
	partial  []byte
	answered chan struct{} // closed and made anew at each answer
}

// longestDrain is how long the end is held back.
const longestDrain = 10 * time.Second

func newDrain(out io.Writer) *drain { return &drain{out: out, answered: make(chan struct{})} }

// messageHead is what tells requests, answers and notifications apart.
type messageHead struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// reader passes in on, a line at a time.
func (d *drain) reader(in io.Reader) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			d.asked(line)
			if _, stopped := w.Write(line); stopped != nil {
				return
			}
			if err != nil {
				d.wait()
				_ = w.CloseWithError(err) // never fails
				return
			}
		}
	}()
	return r
}

// asked counts a request. A stream is never answered while it is wanted.
func (d *drain) asked(line []byte) {
	var m messageHead
	if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 || m.Method == "" || m.Method == "subscriptions/listen" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open++
}

// Write passes an answer on, and counts it.
func (d *drain) Write(b []byte) (int, error) {
	n, err := d.out.Write(b)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.partial = append(d.partial, b...)
	for {
		line, rest, whole := bytes.Cut(d.partial, []byte("\n"))
		if !whole {
			return n, err
		}
		var m messageHead
		if json.Unmarshal(line, &m) == nil && m.Method == "" {
			d.open--
			close(d.answered)
			d.answered = make(chan struct{})
		}
		d.partial = append([]byte(nil), rest...)
	}
}

func (d *drain) wait() {
	late := time.NewTimer(longestDrain)
	defer late.Stop()
	for {
		d.mu.Lock()
		open, answered := d.open, d.answered
		d.mu.Unlock()
		if open <= 0 {
			return
		}
		select {
		case <-answered:
		case <-late.C:
			return
		}
	}
}

// Close leaves the output open: it is the program's.
func (d *drain) Close() error { return nil }
