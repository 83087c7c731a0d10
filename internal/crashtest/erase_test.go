package crashtest

import (
	"context"
	"net/http"

	"hodl"
	"hodl/internal/serve"
)

// An eraser invites people into a workspace of its own, has them work, and erases
// them: again and again, whatever happens to the server.
type eraser struct {
	*client
	ws     hodl.WorkspaceID
	people []*person
}

// A person is what was asked for and answered about one.
type person struct {
	id         hodl.UserID
	session    hodl.SessionID
	invitation string
	key        string
	token      string
	hydrated   int
	removed    bool
	sent       bool // the erasure
	erased     bool // acknowledged
}

// newEraser makes its workspace.
func (w *world) newEraser(s *server) *eraser {
	w.t.Helper()
	e := &eraser{client: w.client(len(w.clients)+1, hodl.Live)}
	db, err := serve.OpenStore(w.ctx, w.setup.config())
	must(w.t, err)
	defer func() { must(w.t, db.Close()) }()
	ws, err := serve.CreateWorkspace(w.ctx, db, "erasing", hodl.Enterprise)
	must(w.t, err)
	k, err := serve.CreateKey(w.ctx, db, ws, "", hodl.KeyDraft{Name: "erasing"})
	must(w.t, err)
	e.ws, e.key = ws.ID, k.Key
	w.stranger.follow(w.ctx, w.t, s, logOf(e.ws, hodl.Live), e.key)
	e.log = w.stranger.logs[logOf(e.ws, hodl.Live)]
	return e
}

// step does the next thing in the life of the last person.
func (e *eraser) step(ctx context.Context, s *server) error {
	if n := len(e.people); n == 0 || e.people[n-1].erased {
		e.hydrations = nil // their salts are gone
		return e.invite(ctx, s)
	}
	p := e.people[len(e.people)-1]
	switch {
	case p.key == "":
		return e.join(ctx, s, p)
	case p.token == "":
		return e.work(ctx, s, p)
	case p.hydrated < 3:
		a, v := e.call(ctx, s, "hydrate", http.MethodPost, "/v1/sessions/"+string(p.session)+"/hydrate", p.token, nil)
		if v == acknowledged {
			p.hydrated++
			e.hydrations = append(e.hydrations, hodl.RecordID(a.header.Get("Hodl-Hydration")))
			return e.read(ctx, s)
		}
		return gone(v)
	case !p.removed:
		_, v := e.call(ctx, s, "remove", http.MethodDelete, "/v1/members/"+string(p.id), e.key, nil, hodl.Conflict, hodl.NotFound)
		p.removed = v != unanswered
		return gone(v)
	}
	return e.erase(ctx, s, p)
}

func (e *eraser) call(ctx context.Context, s *server, what, method, path, key string, body any, allowed ...hodl.Code) (*answer, verdict) {
	a, err := s.send(ctx, method, path, key, body)
	return a, e.judge(s, what, a, err, allowed...)
}

func (e *eraser) invite(ctx context.Context, s *server) error {
	a, v := e.call(ctx, s, "invite", http.MethodPost, "/v1/members", e.key, map[string]string{"name": e.mark()})
	if v == acknowledged {
		e.people = append(e.people, &person{id: hodl.UserID(a.field("user_id")), invitation: a.field("invitation")})
	}
	return gone(v)
}

// join trades the invitation. It may have been traded without an answer: then this
// person does nothing more.
func (e *eraser) join(ctx context.Context, s *server, p *person) error {
	a, v := e.call(ctx, s, "join", http.MethodPost, "/v1/members/join", p.invitation, nil, hodl.InvalidKey)
	switch v {
	case acknowledged:
		p.key = a.field("key")
	case refused:
		e.people = e.people[:len(e.people)-1]
	}
	return gone(v)
}

// work captures a session and mints a token for it, as that person.
func (e *eraser) work(ctx context.Context, s *server, p *person) error {
	a, v := e.call(ctx, s, "capture", http.MethodPost, "/v1/sessions", p.key, e.draft("", e.mark()))
	if v != acknowledged {
		return gone(v)
	}
	p.session = hodl.SessionID(a.field("session_id"))
	a, v = e.call(ctx, s, "mint", http.MethodPost, "/v1/resume_tokens", p.key, hodl.TokenDraft{Session: p.session, Audience: audience, Scopes: []hodl.Scope{hodl.ReadContext}})
	if v == acknowledged {
		p.token = a.field("token")
	}
	return gone(v)
}

// erase erases a person for good. A repetition finds nothing left.
func (e *eraser) erase(ctx context.Context, s *server, p *person) error {
	p.sent = true
	_, v := e.call(ctx, s, "erase", http.MethodPost, "/v1/members/"+string(p.id)+"/erase", e.key, map[string]bool{"dry_run": false})
	p.erased = v == acknowledged
	return gone(v)
}

// wholly checks that each person is erased wholly or not at all, and that nobody was
// who should not be. A session captured without an answer goes with its person.
func (e *eraser) wholly(w *world) {
	w.t.Helper()
	s := look(w.ctx, w.t, w.setup, e.ws)
	recorded, salted, bare := map[hodl.Mode]map[hodl.UserID]int{}, map[hodl.UserID]int{}, map[hodl.UserID]int{}
	for m, log := range s.logs {
		recorded[m] = map[hodl.UserID]int{}
		for _, r := range log.records {
			switch {
			case r.kind == hodl.KindErased:
				recorded[m][r.said.User]++
			case r.salt == nil:
				bare[r.said.User]++
			default:
				salted[r.said.User]++
			}
		}
	}
	erased := 0
	for _, p := range e.people {
		n := recorded[hodl.Live][p.id]
		erased += n
		there := s.sessions[p.session] != nil
		switch {
		case n != recorded[hodl.Sandbox][p.id] || n > 1:
			w.t.Errorf("%s: %d and %d records of an erasure", p.id, n, recorded[hodl.Sandbox][p.id])
		case p.erased && n == 0 || n == 1 && !p.sent:
			w.t.Errorf("%s: erasure sent %t, acknowledged %t, recorded %d times", p.id, p.sent, p.erased, n)
		case n == 1 && (salted[p.id] > 0 || there), n == 0 && (bare[p.id] > 0 || p.session != "" && !there):
			w.t.Errorf("%s, erased %d times: %d records with their salts, %d without, the session is there: %t", p.id, n, salted[p.id], bare[p.id], there)
		}
	}
	w.t.Logf("%d people, %d erased, each wholly or not at all", len(e.people), erased)
}
