package mcpserver

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
	"hodl/internal/store"
)

// Bounds of what one credential may have open at a time.
const (
	mostStreams       = 8
	mostSubscriptions = 20 // of one stream
)

// streams counts the open streams of each credential.
type streams struct {
	mu   sync.Mutex
	open map[string]int
}

func (s *streams) take(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] >= mostStreams {
		return false
	}
	s.open[id]++
	return true
}

func (s *streams) give(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id]--; s.open[id] == 0 {
		delete(s.open, id)
	}
}

// mark separates a URI from the stream that has subscribed to it. The SDK tells every
// subscriber of a URI, whoever they are, and ids of sessions are unique only within
// a workspace: marked, a subscription has no other subscriber.
const mark = "#"

// listen opens a stream. It ends with the credential, when that is revoked, and when
// the server stops.
func (s *Server) listen(ctx context.Context, p *mcp.SubscriptionsListenParams, next func() (mcp.Result, error)) (mcp.Result, error) {
	w := whoOf(ctx)
	if p.Notifications != nil {
		if n := len(p.Notifications.ResourceSubscriptions); n > mostSubscriptions {
			return nil, wire(hodl.Invalid("resourceSubscriptions", "has too many entries; a stream takes 20"), "")
		}
		id := rand.Text()
		for i, uri := range p.Notifications.ResourceSubscriptions {
			if _, ok := parseURI(uri); ok {
				p.Notifications.ResourceSubscriptions[i] = uri + mark + id
			}
		}
	}
	if !s.streams.take(w.id()) {
		return nil, wire(hodl.Errorf(hodl.RateLimited, "%d streams of this credential are open", mostStreams).WithHint("close one, or subscribe to all in one stream"), "")
	}
	defer s.streams.give(w.id())
	w.answer.open()
	return next()
}

// subscribe admits a subscription to a session the caller may read, and watches it.
func (s *Server) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	uri, _, _ := strings.Cut(r.Params.URI, mark)
	at, ok := parseURI(uri)
	if !ok && s.Fixtures != nil {
		return nil
	}
	w := whoOf(ctx)
	if at.session == "" {
		return wire(hodl.Errorf(hodl.NotFound, "nothing to subscribe to").WithHint("subscribe to hodl://sessions/{id}"), uri)
	}
	if !w.has(reads) {
		return wire(s.refuse(ctx, w.lacks(reads)), "")
	}
	id, err := parseSession(at.session)
	if err != nil {
		return wire(err, uri)
	}
	standing, err := s.Resume.Standing(ctx, w.on(id))
	if err != nil {
		return wire(s.refuse(ctx, err), uri)
	}
	go s.watch(ctx, w, id, r.Params.URI, standing)
	return nil
}

// unsubscribe has nothing to do: what watches ends with the stream.
func unsubscribe(context.Context, *mcp.UnsubscribeRequest) error { return nil }

// watch looks from time to time where a session stands and whether the credential
// still opens it: any server of the database may have changed either.
func (s *Server) watch(ctx context.Context, w *who, id hodl.SessionID, uri string, was store.SessionState) {
	tick := time.NewTicker(s.Watch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		is, err := s.look(ctx, w, id)
		if c := hodl.CodeOf(err); c == hodl.Internal || c == hodl.Unavailable || c == hodl.RateLimited {
			continue // the next look tells
		}
		if err != nil {
			w.end()
			return
		}
		if is != was {
			was = is
			_ = s.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // a stream that is gone ends by itself
		}
	}
}

// look is [resume.Service.Standing], with a key looked up again.
func (s *Server) look(ctx context.Context, w *who, id hodl.SessionID) (store.SessionState, error) {
	call := w.on(id)
	if w.key != nil {
		p, err := s.Keys.Authenticate(ctx, w.credential)
		if err != nil {
			return store.SessionState{}, err
		}
		call.Key = p
	}
	return s.Resume.Standing(ctx, call)
}

// unmark gives a stream's notifications the URIs that its client knows.
func (s *Server) unmark(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		switch p := r.GetParams().(type) {
		case *mcp.ResourceUpdatedNotificationParams:
			p.URI, _, _ = strings.Cut(p.URI, mark)
		case *mcp.SubscriptionsAcknowledgedParams:
			for i, uri := range p.Notifications.ResourceSubscriptions {
				p.Notifications.ResourceSubscriptions[i], _, _ = strings.Cut(uri, mark)
			}
		}
		return next(ctx, method, r)
	}
}
