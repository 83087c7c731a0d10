package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
)

// An answer stands between the SDK and the connection. It turns refusals that show
// only while a request is handled into the status they have, the SDK's plain texts
// into the envelope, and keeps a quiet stream alive.
type answer struct {
	http.ResponseWriter
	s   *Server
	ctx context.Context
	who *who

	mu      sync.Mutex
	refusal error // written in place of what the SDK writes
	began   bool
	plain   int // the status of a plain text that waits for its words
	dropped bool
	closed  bool
	stream  bool
	last    bool // what was written last is a response
	splices []splice
}

// refuse makes the refusal the answer, unless there is one already.
func (a *answer) refuse(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.began {
		a.refusal = err
	}
}

// WriteHeader begins an answer of the SDK.
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin(status)
}

func (a *answer) begin(status int) {
	if a.began {
		return
	}
	a.began = true
	a.Header().Set("Cache-Control", "no-store, no-transform")
	switch {
	case a.refusal != nil:
		a.dropped = true
		a.write(a.refusal)
	case status >= 400 && strings.HasPrefix(a.Header().Get("Content-Type"), "text/plain"):
		a.plain = status
	default:
		a.ResponseWriter.WriteHeader(status)
	}
}

// Write writes for the SDK.
func (a *answer) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin(http.StatusOK)
	switch {
	case a.closed:
		return 0, io.ErrClosedPipe
	case a.plain != 0:
		writeEnvelope(a.ResponseWriter, a.plain, transport(a.plain, strings.TrimSpace(string(b))))
		a.plain, a.dropped = 0, true
	case !a.dropped:
		a.last = !bytes.Contains(b, []byte(`"method":`)) // quotes of captured text are escaped
		return a.sendSpliced(b)
	}
	return len(b), nil
}

// send writes to the connection. A reader of a stream that takes nothing for too
// long is let go.
func (a *answer) send(b []byte) (int, error) {
	if a.stream {
		_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(patience)) // a recorder of tests has none
	}
	return a.ResponseWriter.Write(b)
}

const (
	patience  = 30 * time.Second
	heartbeat = 25 * time.Second // proxies drop what is quiet for a minute
)

// Flush is asked by the SDK after each event. Behind a response nothing comes: it
// goes out as the handler returns, in one piece with the end of the answer.
func (a *answer) Flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last && !a.stream {
		return
	}
	if a.began && !a.dropped && !a.closed && a.plain == 0 {
		_ = http.NewResponseController(a.ResponseWriter).Flush() // the client may be gone
	}
}

// open makes the answer a stream: it has no deadline but the credential's end, and a
// comment from time to time shows proxies that it lives.
func (a *answer) open() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stream = true
	rc := http.NewResponseController(a.ResponseWriter)
	_ = rc.SetReadDeadline(time.Time{})
	_ = rc.SetWriteDeadline(time.Time{})
	go a.beat()
}

func (a *answer) beat() {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-a.ctx.Done():
			return
		case <-tick.C:
			a.comment()
		}
	}
}

func (a *answer) comment() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.began || a.closed || a.dropped {
		return
	}
	if _, err := a.send([]byte(": alive\n\n")); err == nil {
		_ = http.NewResponseController(a.ResponseWriter).Flush()
	}
}

// close ends the answer: nothing may be written once its handler has returned.
func (a *answer) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refusal != nil && !a.began {
		a.began = true
		a.write(a.refusal)
	}
	a.closed = true
}

// deny answers a request that the protocol never sees.
func (a *answer) deny(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.began = true
	a.write(err)
}

func (a *answer) write(err error) {
	if status := statusOf(err); status == http.StatusUnauthorized || hodl.CodeOf(err) == hodl.InsufficientScope {
		a.Header().Set("WWW-Authenticate", a.s.challenge(a.who, err))
	}
	e, ok := errors.AsType[*hodl.Error](err)
	if !ok || e.Code == hodl.Internal {
		e = hodl.Errorf(hodl.Internal, "something went wrong on the server").WithHint("try again; if it lasts, tell the operator the X-Request-Id of this answer")
	}
	if e.RetryAfter > 0 {
		a.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(e.RetryAfter.Seconds())))))
	}
	writeEnvelope(a.ResponseWriter, statusOf(err), e)
}

// transport is what the SDK's transport says in plain text, as a refusal.
func transport(status int, text string) *hodl.Error {
	switch status {
	case http.StatusMethodNotAllowed:
		return hodl.Errorf(hodl.MethodNotAllowed, "only POST goes here").WithHint("this door keeps no sessions: send each message by itself")
	case http.StatusRequestEntityTooLarge:
		return hodl.Errorf(hodl.PayloadTooLarge, "a message is at most %d bytes", mostBody).WithHint("capture large sessions with PUT /v1/sessions/{id}")
	case http.StatusUnsupportedMediaType:
		return hodl.Errorf(hodl.UnsupportedMedia, "a message is JSON").WithHint("send Content-Type: application/json")
	case http.StatusInternalServerError:
		return hodl.Errorf(hodl.Internal, "something went wrong on the server").WithHint("try again")
	}
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return hodl.Errorf(hodl.BadRequest, "%s", text).WithHint("send a message of the Model Context Protocol")
}

// writeEnvelope writes a refusal as REST does.
func writeEnvelope(w http.ResponseWriter, status int, e *hodl.Error) {
	var body struct {
		Error struct {
			Code    hodl.Code `json:"code"`
			Message string    `json:"message"`
			Hint    string    `json:"hint"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message, body.Error.Hint = e.Code, e.Message, e.Hint
	w.Header().Set("Content-Type", "application/json")
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, body) // the client may be gone
}
