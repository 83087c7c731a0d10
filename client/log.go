package client

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"hodl"
)

// LogKeys is what verifies a log: its name and every key that ever signed it.
type LogKeys struct {
	Origin string   `json:"origin"`
	Keys   []LogKey `json:"keys"` // the oldest first
}

// LogKey is a key of a log, as c2sp.org/signed-note writes it.
type LogKey struct {
	Verifier   string     `json:"verifier_key"`
	SignsFrom  time.Time  `json:"signs_from"`
	SignsUntil *time.Time `json:"signs_until"` // nil while no successor has its turn
}

// Anchors is a page of a log's entries in the server's own log. Next is nil at the
// end.
type Anchors struct {
	Key     []byte   `json:"key"` // by which the entries are found
	Anchors []Anchor `json:"anchors"`
	Next    *int64   `json:"next_from"`
}

// Anchor is a head that a log had, and its place in the server's own log.
type Anchor struct {
	Place int64  `json:"index"`
	Size  int64  `json:"size"`
	Root  []byte `json:"root"`
}

// A Log is an access log as it is served (c2sp.org/tlog-tiles).
type Log struct {
	c    *caller
	path string
}

// WorkspaceLog is the log of the key's workspace, in a mode: /v1/workspaces/{id}/log.
func (c *Client) WorkspaceLog(id hodl.WorkspaceID, m hodl.Mode) *Log {
	path := "/v1/workspaces/" + segment(id) + "/log"
	if m == hodl.Sandbox {
		path += "/sandbox"
	}
	return &Log{&c.caller, path}
}

// ServerLog is the server's own log, which is everybody's: /v1/log.
func (c *Client) ServerLog() *Log { return &Log{&c.caller, "/v1/log"} }

// Checkpoint returns the signed head of the log.
func (l *Log) Checkpoint(ctx context.Context) (string, error) {
	body, err := l.file(ctx, "/checkpoint")
	return string(body), err
}

// Tile returns a tile or an entry bundle: path is what stands behind tile/.
func (l *Log) Tile(ctx context.Context, path string) ([]byte, error) {
	return l.file(ctx, "/tile/"+path)
}

func (l *Log) file(ctx context.Context, path string) ([]byte, error) {
	_, body, err := l.c.send(ctx, call{method: "GET", path: l.path + path})
	return body, err
}

// Keys returns the keys that verify the log.
func (l *Log) Keys(ctx context.Context) (*LogKeys, error) {
	out := &LogKeys{}
	return out, l.c.do(ctx, call{method: "GET", path: l.path + "/keys"}, out)
}

// Anchors lists the entries of a workspace's log in the server's own, from a place on.
func (l *Log) Anchors(ctx context.Context, from int64) (*Anchors, error) {
	out, q := &Anchors{}, Page{}.query()
	set(q, "from", strconv.FormatInt(from, 10))
	return out, l.c.do(ctx, call{method: "GET", path: l.path + "/anchors", query: q}, out)
}

// Proof returns a record's proof: GET /v1/access_records/{id}/proof. The package
// receipt verifies it.
func (c *Client) Proof(ctx context.Context, id hodl.RecordID) (string, error) {
	_, body, err := c.send(ctx, call{method: "GET", path: "/v1/access_records/" + segment(id) + "/proof"})
	return string(body), err
}

// ExportRecords writes the access log to w, its checkpoint on the first line and then
// a record on each: GET /v1/access_records/export. user is whose records are shown:
// "" for the caller's own, "all" for everybody's, which is for admins. When it
// returns nil, all of them are there.
func (c *Client) ExportRecords(ctx context.Context, user string, w io.Writer) error {
	q := Page{}.query()
	set(q, "user", strings.TrimSpace(user))
	return c.export(ctx, call{method: "GET", path: "/v1/access_records/export", query: q}, w)
}
