package crashtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"hodl"
)

// A verdict is what a client knows of what it asked for.
type verdict int

const (
	unanswered   verdict = iota // it may have been done
	acknowledged                // it was done
	refused                     // it was not
)

// errGone ends a client's round: the server stopped answering.
var errGone = errors.New("no answer")

const audience = "claude.anthropic.com"

// A client works on sessions and tokens of its own, and with a token it shares with
// all the others.
type client struct {
	n      int
	rand   *rand.Rand
	mode   hodl.Mode
	key    string
	j      *journal
	serial int

	sessions []hodl.SessionID
	tokens   []ticket
	shared   *ticket

	stranger   *stranger
	log        *followed // the client's own
	hydrations []hodl.RecordID
}

// A ticket is a token as its holder has it.
type ticket struct {
	id      hodl.TokenID
	signed  string
	session hodl.SessionID
}

// step does one thing at random. It returns errGone when the server did not answer.
func (c *client) step(ctx context.Context, s *server) error {
	if len(c.sessions) == 0 {
		return c.capture(ctx, s, "")
	}
	if len(c.tokens) == 0 {
		return c.mint(ctx, s, pick(c.rand, c.sessions))
	}
	switch n := c.rand.IntN(100); {
	case n < 9:
		return c.capture(ctx, s, "")
	case n < 19:
		return c.capture(ctx, s, pick(c.rand, c.sessions))
	case n < 28:
		return c.hodl(ctx, s)
	case n < 39:
		return c.mint(ctx, s, pick(c.rand, c.sessions))
	case n < 64:
		return c.hydrate(ctx, s, pick(c.rand, c.tokens))
	case n < 83 && c.shared != nil:
		return c.hydrate(ctx, s, *c.shared)
	case n < 92:
		return c.write(ctx, s, pick(c.rand, c.tokens))
	case n < 97:
		return c.read(ctx, s)
	}
	return c.revoke(ctx, s, c.rand.IntN(len(c.tokens)))
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// judge sorts an answer. When nothing was broken on purpose there must be one, and
// a refusal of the server itself is always a fault unless it is 503.
func (c *client) judge(s *server, what string, a *answer, err error, allowed ...hodl.Code) verdict {
	switch {
	case err != nil && !s.failing.Load():
		c.j.fault("%s: no answer, though nothing was broken: %v", what, err)
		return unanswered
	case err != nil:
		return unanswered
	case a.ok():
		return acknowledged
	case a.status == http.StatusServiceUnavailable && s.failing.Load():
		if a.code() != hodl.Unavailable || a.header.Get("Retry-After") == "" {
			c.j.fault("%s: 503 without code or Retry-After: %s", what, a.body)
		}
		return unanswered
	}
	for _, code := range allowed {
		if a.code() == code {
			return refused
		}
	}
	c.j.fault("%s: %d %s", what, a.status, a.body)
	if a.status >= http.StatusInternalServerError {
		return unanswered
	}
	return refused
}

func gone(v verdict) error {
	if v == unanswered {
		return errGone
	}
	return nil
}

// mark is a title that nobody else ever sends.
func (c *client) mark() string {
	c.serial++
	return fmt.Sprintf("c%d-%d", c.n, c.serial)
}

// capture captures the session id anew, or one that is new: half of those under an
// id of the client's own, which is known even when no answer comes.
func (c *client) capture(ctx context.Context, s *server, id hodl.SessionID) error {
	title := c.mark()
	fresh := id == ""
	if fresh && c.rand.IntN(2) == 0 {
		id = hodl.SessionID("ses_" + strings.ReplaceAll(title, "-", "x"))
	}
	c.j.note(func() {
		c.j.marks[title] = false
		if fresh {
			c.j.created[c.mode].sent++
		}
		if id != "" {
			c.j.session(id, c.mode).writes.sent++
		}
	})
	method, path := c.captureRoute(id)
	a, err := s.send(ctx, method, path, c.key, c.draft(id, title))
	v := c.judge(s, "capture", a, err)
	c.j.note(func() {
		c.j.marks[title] = v == acknowledged
		if fresh {
			c.j.created[c.mode].count(v)
		}
		fingerprint := ""
		if v == acknowledged {
			got := hodl.SessionID(a.field("session_id"))
			if id == "" {
				id = got
				c.j.session(id, c.mode).writes.sent++
			}
			if fingerprint = a.field("fingerprint"); got != id || fingerprint == "" {
				c.j.addFault("capture of %s answered %s", id, a.body)
			}
		}
		if id != "" {
			c.j.session(id, c.mode).captured(v, title, fingerprint)
		}
	})
	if fresh && v == acknowledged {
		c.sessions = append(c.sessions, id)
	}
	return gone(v)
}

func (c *client) captureRoute(id hodl.SessionID) (method, path string) {
	switch {
	case id != "" && c.rand.IntN(2) == 0:
		return http.MethodPut, "/v1/sessions/" + string(id)
	case c.rand.IntN(2) == 0:
		return http.MethodPost, "/v1/sessions"
	}
	return http.MethodPost, "/api/v1/hodl"
}

func (c *client) draft(id hodl.SessionID, title string) hodl.SessionDraft {
	return hodl.SessionDraft{
		ID: string(id), Title: title, Summary: "What stood open.", Tags: []string{"crash"},
		Tabs:   []hodl.Tab{{URL: "https://example.com/" + title, Title: title, SelectedText: strings.Repeat("text ", 1+c.rand.IntN(200))}},
		Thread: []hodl.Node{{ID: "n1", Kind: hodl.NextStep, Text: "Go on with " + title}},
	}
}

func (c *client) hodl(ctx context.Context, s *server) error {
	title := c.mark()
	c.j.note(func() { c.j.marks[title] = false; c.j.hodls[c.mode].sent++ })
	a, err := s.send(ctx, http.MethodPost, "/v1/hodls", c.key, hodl.HodlDraft{URL: "https://example.com/", Title: title})
	v := c.judge(s, "capture hodl", a, err)
	c.j.note(func() {
		c.j.hodls[c.mode].count(v)
		if v == acknowledged {
			c.j.marks[title] = true
			c.j.titles[hodl.HodlID(a.field("id"))] = title
		}
	})
	return gone(v)
}

func (c *client) mint(ctx context.Context, s *server, session hodl.SessionID) error {
	k, v := c.mintFor(ctx, s, session, 1+c.rand.IntN(12))
	if v == acknowledged {
		c.tokens = append(c.tokens, k)
	}
	return gone(v)
}

func (c *client) mintFor(ctx context.Context, s *server, session hodl.SessionID, most int) (ticket, verdict) {
	c.j.note(func() { c.j.mints[c.mode].sent++ })
	a, err := s.send(ctx, http.MethodPost, "/v1/resume_tokens", c.key, hodl.TokenDraft{
		Session: session, Audience: audience, MaxHydrations: &most, Scopes: []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning, hodl.WriteNotes},
	})
	v := c.judge(s, "mint", a, err)
	var k ticket
	c.j.note(func() {
		c.j.mints[c.mode].count(v)
		if v == acknowledged {
			k = ticket{hodl.TokenID(a.field("jti")), a.field("token"), session}
			c.j.tokens[k.id] = &tokenClaim{mode: c.mode, session: session, most: most}
		}
	})
	return k, v
}

// hydrate uses a token. It may be used up by those who hydrated before; it must not
// be used up earlier, and not work after its revocation.
func (c *client) hydrate(ctx context.Context, s *server, k ticket) error {
	allowed := []hodl.Code{}
	if c.mode == hodl.Sandbox {
		allowed = append(allowed, hodl.QuotaExceeded) // a very long run reaches it
	}
	revoked := false
	c.j.note(func() {
		claim := c.j.tokens[k.id]
		if revoked = claim.revocation.acked > 0; claim.revocation.sent > 0 {
			allowed = append(allowed, hodl.TokenRevoked)
		}
		claim.hydrations.sent++
	})
	path := "/v1/sessions/" + string(k.session) + "/hydrate"
	if c.rand.IntN(4) == 0 {
		path += "?format=prompt-ready"
	}
	a, err := s.send(ctx, http.MethodPost, path, k.signed, nil)
	c.j.note(func() {
		if claim := c.j.tokens[k.id]; claim.hydrations.sent-claim.hydrations.refused > claim.most {
			allowed = append(allowed, hodl.HydrationsExhausted)
		}
	})
	v := c.judge(s, "hydrate", a, err, allowed...)
	c.j.note(func() {
		c.j.tokens[k.id].hydrations.count(v)
		if v != acknowledged {
			return
		}
		if revoked {
			c.j.addFault("%s hydrated after its revocation was acknowledged", k.id)
		}
		c.hydrated(k, a)
	})
	if v == refused && c.shared != nil && k.id == c.shared.id {
		c.shared = nil
	}
	return gone(v)
}

func (c *client) hydrated(k ticket, a *answer) {
	id := a.header.Get("Hodl-Hydration")
	fingerprint, _ := strconv.Unquote(a.header.Get("ETag"))
	c.j.hydrated(hodl.RecordID(id), hydrationClaim{k.id, fingerprint})
	if c.j.tokens[k.id].mode == c.mode { // or the key does not see it
		c.hydrations = append(c.hydrations, hodl.RecordID(id))
	}
	if body := a.field("hydration_id"); a.header.Get("Content-Type") == "application/json" && body != id {
		c.j.addFault("hydration_id is %q in the body and %q in the header", body, id)
	}
	if a.field("fingerprint") != fingerprint && a.header.Get("Content-Type") == "application/json" {
		c.j.addFault("a hydration's fingerprint and ETag differ: %s, %s", a.field("fingerprint"), fingerprint)
	}
}

// write appends a note as an agent.
func (c *client) write(ctx context.Context, s *server, k ticket) error {
	text := c.mark()
	allowed := []hodl.Code{}
	c.j.note(func() {
		if c.j.tokens[k.id].revocation.sent > 0 {
			allowed = append(allowed, hodl.TokenRevoked)
		}
		c.j.session(k.session, c.mode).writes.sent++
	})
	a, err := s.send(ctx, http.MethodPost, "/v1/sessions/"+string(k.session)+"/notes", k.signed, hodl.NoteDraft{Body: text})
	v := c.judge(s, "write a note", a, err, allowed...)
	c.j.note(func() {
		fingerprint := ""
		if v == acknowledged {
			fingerprint, _ = strconv.Unquote(a.header.Get("ETag"))
		}
		c.j.session(k.session, c.mode).noted(v, text, fingerprint)
	})
	return gone(v)
}

// revoke ends a token and tries it at once.
func (c *client) revoke(ctx context.Context, s *server, i int) error {
	k := c.tokens[i]
	c.j.note(func() { c.j.tokens[k.id].revocation.sent++ })
	a, err := s.send(ctx, http.MethodPost, "/v1/resume_tokens/"+string(k.id)+"/revoke", c.key, nil)
	v := c.judge(s, "revoke", a, err)
	c.j.note(func() { c.j.tokens[k.id].revocation.count(v) })
	if v != acknowledged {
		return gone(v)
	}
	c.tokens = append(c.tokens[:i], c.tokens[i+1:]...)
	return c.hydrate(ctx, s, k)
}
