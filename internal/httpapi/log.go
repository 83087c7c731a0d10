package httpapi

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/ledger"
	"hodl/internal/signing"
	"hodl/internal/store"
)

// Logs tells the keys that checkpoints are signed with.
type Logs interface {
	Origin() string
	Verifiers(origin string) []signing.Verifier
}

// Media types and ages of a log's files (c2sp.org/tlog-tiles): a checkpoint is soon
// another, a tile never is.
const (
	plainText = "text/plain; charset=utf-8"
	binary    = "application/octet-stream"
	immutable = "max-age=31536000, immutable"
)

// fileReply is a file of a log.
type fileReply struct {
	ContentType string `header:"Content-Type"`
	Cache       string `header:"Cache-Control"`
	Body        []byte
}

// checkpointReply, tileReply and proofReply are files of a log, as the document
// tells them apart.
type (
	checkpointReply fileReply
	tileReply       fileReply
	proofReply      fileReply
)

func (*checkpointReply) describe(huma.Registry) map[string]*huma.MediaType {
	return textOf("A signed checkpoint: c2sp.org/tlog-checkpoint")
}

func (*proofReply) describe(huma.Registry) map[string]*huma.MediaType {
	return textOf("A proof: c2sp.org/tlog-proof. Its extra data is the record's salt")
}

func (*tileReply) describe(huma.Registry) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{binary: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "32 bytes for each hash, or entries with their lengths"}}}
}

func textOf(what string) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString, Description: what}}}
}

// WorkspaceLog names a log of the key's workspace.
type WorkspaceLog struct{ WorkspacePath }

// open refuses every log but those the key may see: a sandbox key sees no live data.
func (in *WorkspaceLog) open(ctx context.Context, m hodl.Mode) error {
	p := principal(ctx)
	if err := in.own(p); err != nil {
		return err
	}
	if m == hodl.Live && p.Mode == hodl.Sandbox {
		return hodl.Errorf(hodl.NotFound, "a sandbox key does not see the live log").WithHint("its own is at /v1/workspaces/{id}/log/sandbox")
	}
	return nil
}

// logCheckpoint and the like answer for the log of one mode.
func (s *server) logCheckpoint(m hodl.Mode) func(context.Context, *WorkspaceLog) (*checkpointReply, error) {
	return func(ctx context.Context, in *WorkspaceLog) (*checkpointReply, error) {
		if err := in.open(ctx, m); err != nil {
			return nil, err
		}
		head, err := s.Store.LogHead(ctx, in.ID, m)
		if err != nil {
			return nil, err
		}
		return &checkpointReply{plainText, "no-cache", []byte(head.Text())}, nil
	}
}

// WorkspaceTile names a tile of such a log.
type WorkspaceTile struct {
	WorkspaceLog
	Tile string `path:"tile" doc:"<level>/<index>[.p/<width>] or entries/<index>[.p/<width>]: c2sp.org/tlog-tiles"`
}

func (s *server) logTile(m hodl.Mode) func(context.Context, *WorkspaceTile) (*tileReply, error) {
	return func(ctx context.Context, in *WorkspaceTile) (*tileReply, error) {
		if err := in.open(ctx, m); err != nil {
			return nil, err
		}
		body, err := readTile(in.Tile, func(list []ledger.Tile) ([][]byte, error) { return s.Store.LogTiles(ctx, in.ID, m, list) })
		return &tileReply{binary, "private, " + immutable, body}, err
	}
}

func readTile(path string, read ledger.Tiles) ([]byte, error) {
	tile, err := ledger.ParseTile(path)
	if err != nil {
		return nil, hodl.Errorf(hodl.NotFound, "%v", err)
	}
	list, err := read([]ledger.Tile{tile})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

type verifierBody struct {
	Key        string     `json:"verifier_key" doc:"The key, with the log's name: c2sp.org/signed-note"`
	SignsFrom  time.Time  `json:"signs_from" doc:"When it began to sign (RFC 3339, UTC)"`
	SignsUntil *time.Time `json:"signs_until" doc:"When it signs for the last time; null while no successor has its turn"`
}

// logKeysBody is what a verifier of a log has to know.
type logKeysBody struct {
	Origin string         `json:"origin" doc:"The name of the log, the first line of its checkpoints"`
	Keys   []verifierBody `json:"keys" doc:"Every key that ever signed it, the oldest first"`
}

func (s *server) logKeysOf(origin string) logKeysBody {
	out := logKeysBody{Origin: origin, Keys: []verifierBody{}}
	for _, v := range s.Logs.Verifiers(origin) {
		b := verifierBody{Key: v.Key, SignsFrom: v.SignsFrom}
		if !v.SignsUntil.IsZero() {
			b.SignsUntil = &v.SignsUntil
		}
		out.Keys = append(out.Keys, b)
	}
	return out
}

type logKeysReply struct{ Body logKeysBody }

func (s *server) logKeys(m hodl.Mode) func(context.Context, *WorkspaceLog) (*logKeysReply, error) {
	return func(ctx context.Context, in *WorkspaceLog) (*logKeysReply, error) {
		if err := in.open(ctx, m); err != nil {
			return nil, err
		}
		return &logKeysReply{s.logKeysOf(store.LogOrigin(s.Logs.Origin(), in.ID, m))}, nil
	}
}

// recordProof proves that a record is in its log.
func (s *server) recordProof(ctx context.Context, in *RecordPath) (*proofReply, error) {
	r, err := s.recordOf(ctx, in)
	if err != nil {
		return nil, err
	}
	proof, err := s.Store.Receipt(ctx, r.Workspace, r.Mode, r.Seq)
	if err != nil {
		return nil, err
	}
	return &proofReply{plainText, "no-cache", []byte(proof.String())}, nil
}

// asHeader is a receipt on one line.
func asHeader(receipt string) string { return base64.RawURLEncoding.EncodeToString([]byte(receipt)) }

// pathsOfFiles names the parameter of a tile as OpenAPI does, which knows none that
// takes several segments.
func pathsOfFiles(spec *huma.OpenAPI) {
	for path, item := range spec.Paths {
		if plain := strings.ReplaceAll(path, "...}", "}"); plain != path {
			delete(spec.Paths, path)
			spec.Paths[plain] = item
		}
	}
}

// logFiles serves the server's own log, which is everybody's.
func (s *server) logFiles(mux *http.ServeMux) {
	serve := func(path, kind, cache string, read func(*http.Request) ([]byte, error)) {
		mux.HandleFunc("GET /v1/log/"+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := read(r)
			if err != nil {
				fault(r.Context(), err)
				writeError(w, err)
				return
			}
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Cache-Control", cache)
			_, _ = w.Write(body) // the client may be gone
		})
	}
	serve("checkpoint", plainText, "no-cache", func(r *http.Request) ([]byte, error) {
		head, err := s.Store.ServerLogHead(r.Context())
		if err != nil {
			return nil, err
		}
		return []byte(head.Text()), nil
	})
	serve("tile/{tile...}", binary, "public, "+immutable, func(r *http.Request) ([]byte, error) {
		return readTile(r.PathValue("tile"), func(list []ledger.Tile) ([][]byte, error) { return s.Store.ServerLogTiles(r.Context(), list) })
	})
	serve("keys", "application/json", "public, max-age=300", func(*http.Request) ([]byte, error) {
		return json.Marshal(s.logKeysOf(s.Logs.Origin()), json.Deterministic(true))
	})
}

// anchorBody is an entry of the server's log.
type anchorBody struct {
	Place int64  `json:"index" doc:"Its place in the server's log"`
	Size  int64  `json:"size" doc:"How many records the workspace's log had"`
	Root  []byte `json:"root" doc:"Under which root, in base64"`
}

type anchorsReply struct {
	Body struct {
		Key     []byte       `json:"key,omitempty" doc:"The key that tags and salts are made with, in base64; absent while there is no entry. Whoever has it sees which entries are of this log"`
		Anchors []anchorBody `json:"anchors" doc:"Entries of this log, the oldest first"`
		Next    *int64       `json:"next_from" doc:"from of the next page; null at the end"`
	}
}

// AnchorQuery names a page of a log's entries in the server's log.
type AnchorQuery struct {
	WorkspaceLog
	From int64 `query:"from" minimum:"0" doc:"Only entries from this place on"`
}

// mostAnchors is how many entries a page lists.
const mostAnchors = 1000

func (s *server) logAnchors(m hodl.Mode) func(context.Context, *AnchorQuery) (*anchorsReply, error) {
	return func(ctx context.Context, in *AnchorQuery) (*anchorsReply, error) {
		if err := in.open(ctx, m); err != nil {
			return nil, err
		}
		out := &anchorsReply{}
		var err error
		if out.Body.Key, err = s.Store.AnchorKey(ctx, in.ID, m); err != nil {
			return nil, err
		}
		list, err := s.Store.Anchors(ctx, in.ID, m, in.From, mostAnchors)
		out.Body.Anchors = []anchorBody{}
		for _, a := range list {
			out.Body.Anchors = append(out.Body.Anchors, anchorBody{a.Place, a.Size, a.Root[:]})
		}
		if len(list) == mostAnchors {
			next := list[mostAnchors-1].Place + 1
			out.Body.Next = &next
		}
		return out, err
	}
}
