package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/seal"
	"hodl/internal/store"
)

func handOffName(engine string) string {
	return fmt.Sprintf("naive: hydrate 11 KB over HTTP, %s, 32 clients, regular expressions, a transaction each", engine)
}

// A handOff is the naive path as a server: it takes the requests that ours takes, for
// the same sessions in the same database, and keeps nothing from one to the next but
// keys. Each time it checks the token's signature, opens and decodes the session, has
// eight regular expressions go over every text, renders, and commits by itself.
// Nothing of it is slower than it must be: the expressions are compiled once, the
// statements prepared, and the commit begins when all else is done.
type handOff struct {
	naive
	keys map[string]ed25519.PublicKey // by kid
	ring *seal.Ring
	ids  hodl.IDs
}

const readVersion = `select s.fingerprint, s.captured_at, v.body from sessions s
	join session_versions v on v.workspace = s.workspace and v.mode = s.mode and v.session = s.id and v.fingerprint = s.fingerprint
	where s.workspace = $1 and s.mode = $2 and s.id = $3`

const readDataKey = `select wrapped from data_keys where workspace = $1 and version = $2`

// startHandOff serves the sessions of t, which has one workspace: PostgreSQL is told
// of it once for each connection.
func startHandOff(ctx context.Context, engine string, t *target) (*target, func(), error) {
	p := *t.place
	if engine == "PostgreSQL" {
		p.options.Database += "&hodl.workspaces=" + string(t.workspace) // it has parameters already
	}
	n, err := newNaive(ctx, engine, &p)
	if err != nil {
		return nil, nil, err
	}
	n.scope = false
	s := &handOff{naive: *n}
	s.ring = seal.NewRing(p.options.Master, s)
	if err := errors.Join(s.prepare(ctx, readVersion, readDataKey), s.fetchKeys(t.address)); err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/sessions/{id}/hydrate", s)
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(l) }() // it ends with Close
	out := *t
	out.address = l.Addr().String()
	return &out, func() { server.Close(); n.close() }, nil
}

// fetchKeys gets the keys that tokens are signed with, as any verifier does.
func (s *handOff) fetchKeys(address string) error {
	answer, err := http.Get("http://" + address + "/.well-known/jwks.json")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var set struct {
		Keys []struct {
			ID string `json:"kid"`
			X  string `json:"x"`
		} `json:"keys"`
	}
	if err := json.UnmarshalRead(answer.Body, &set); err != nil {
		return err
	}
	s.keys = map[string]ed25519.PublicKey{}
	for _, k := range set.Keys {
		if s.keys[k.ID], err = base64.RawURLEncoding.DecodeString(k.X); err != nil {
			return err
		}
	}
	return nil
}

// DataKey and CurrentDataKey serve the ring, which keeps what it was told.
func (s *handOff) DataKey(ctx context.Context, ws hodl.WorkspaceID, version uint32) (wrapped []byte, err error) {
	err = s.prepared[readDataKey].QueryRowContext(ctx, ws, int64(version)).Scan(&wrapped)
	return wrapped, err
}

func (s *handOff) CurrentDataKey(context.Context, hodl.WorkspaceID) (uint32, error) {
	return 0, errors.ErrUnsupported // it seals nothing
}

func (s *handOff) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	claims, err := s.verify(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), time.Now())
	if err == nil && string(claims.Session) != r.PathValue("id") {
		err = errors.New("the token is for another session")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	body, err := s.handOff(r.Context(), claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the load checks what it gets
}

// verify reads a signed token (RFC 7515 §5.2, RFC 7519 §7.2), as libraries do.
func (s *handOff) verify(token string, now time.Time) (*hodl.Claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("the token is not three parts")
	}
	var header struct {
		Algorithm string `json:"alg"`
		Key       string `json:"kid"`
	}
	if err := decodePart(parts[0], &header); err != nil {
		return nil, err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, err
	}
	key := s.keys[header.Key]
	if header.Algorithm != "EdDSA" || key == nil || !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), signature) {
		return nil, errors.New("the token is not signed by this server")
	}
	var claims hodl.Claims
	if err := decodePart(parts[1], &claims); err != nil {
		return nil, err
	}
	if now.Unix() < claims.NotBefore || now.Unix() >= claims.Expires {
		return nil, errors.New("the token is not valid now")
	}
	return &claims, nil
}

func decodePart(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// handOff returns the session of a token, redacted and on record.
func (s *handOff) handOff(ctx context.Context, claims *hodl.Claims) ([]byte, error) {
	ws, user := claims.Owner()
	var sealed []byte
	var fingerprint string
	var captured int64
	if err := s.prepared[readVersion].QueryRowContext(ctx, ws, claims.Mode, claims.Session).Scan(&fingerprint, &captured, &sealed); err != nil {
		return nil, err
	}
	text, err := s.ring.Open(ctx, ws, "session", string(claims.Mode)+"/"+string(claims.Session)+"/"+fingerprint, sealed)
	if err != nil {
		return nil, err
	}
	var version store.VersionBody
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, err
	}
	now := time.Now()
	rec := &hodl.Record{
		ID: hodl.RecordID(s.ids.New("acr", now)), Kind: hodl.KindHydrate, At: now, Actor: claims.Audience, JTI: claims.ID,
		Workspace: ws, Mode: claims.Mode, User: user, Session: claims.Session, Scopes: claims.Scopes, Fingerprint: fingerprint,
	}
	body, err := answerOf(rec, &version.Content, time.UnixMicro(captured))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	rec.Returned = &hodl.Returned{Bytes: len(body), Format: "json", SHA256: hex.EncodeToString(sum[:])}
	entry, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	return body, s.hydrate(ctx, rec, string(entry))
}

func answerOf(rec *hodl.Record, c *hodl.Content, captured time.Time) ([]byte, error) {
	removed := removeAll(c)
	return json.Marshal(struct {
		hodl.ResumeContext
		ID hodl.RecordID `json:"hydration_id"`
	}{hodl.ResumeContext{
		Session: rec.Session, Version: hodl.ContextVersion, CapturedAt: captured.UTC(), Title: c.Title, Summary: c.Summary,
		Tabs: c.Tabs, Media: c.Media, Thread: c.Thread, Tags: c.Tags, Redactions: removed,
		Notes: c.Notes, Hodls: c.Hodls, Provenance: c.Provenance, Scopes: rec.Scopes, Fingerprint: rec.Fingerprint,
	}, rec.ID})
}

// rules are the expressions that anybody finds for these, as they stand in lists of
// them: those that begin with fixed letters are fast.
var rules = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"aws", regexp.MustCompile(`AKIA[0-9A-Z]{16}`)},
	{"github", regexp.MustCompile(`gh[pousr]_[0-9A-Za-z]{36,}`)},
	{"openai", regexp.MustCompile(`sk-[0-9A-Za-z_-]{20,}`)},
	{"email", regexp.MustCompile(`[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}`)},
	{"pem", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`)},
	{"jwt", regexp.MustCompile(`eyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+`)},
	{"card", regexp.MustCompile(`\b(?:\d[ -]?){13,16}\b`)},
	{"password", regexp.MustCompile(`(?i)(?:password|passwd|pwd)\s*[=:]\s*\S+`)},
}

// removeAll has every rule go over every text of c.
func removeAll(c *hodl.Content) []hodl.Redaction {
	removed := []hodl.Redaction{}
	clean := func(field string, text *string) {
		for _, r := range rules {
			if !r.pattern.MatchString(*text) {
				continue
			}
			*text = r.pattern.ReplaceAllString(*text, "[REDACTED]")
			removed = append(removed, hodl.Redaction{Field: field, Reason: r.name})
		}
	}
	clean("title", &c.Title)
	clean("summary", &c.Summary)
	for i := range c.Tabs {
		clean(fmt.Sprintf("tabs[%d].url", i), &c.Tabs[i].URL)
		clean(fmt.Sprintf("tabs[%d].title", i), &c.Tabs[i].Title)
		clean(fmt.Sprintf("tabs[%d].selected_text", i), &c.Tabs[i].SelectedText)
	}
	for i := range c.Media {
		clean(fmt.Sprintf("media[%d].url", i), &c.Media[i].URL)
		clean(fmt.Sprintf("media[%d].transcript_anchor", i), &c.Media[i].Transcript)
	}
	for i := range c.Thread {
		clean(fmt.Sprintf("reasoning_thread[%d].text", i), &c.Thread[i].Text)
	}
	for i := range c.Tags {
		clean(fmt.Sprintf("ai_tags[%d]", i), &c.Tags[i])
	}
	for i := range c.Notes {
		clean(fmt.Sprintf("notes[%d].body", i), &c.Notes[i].Body)
	}
	return removed
}
