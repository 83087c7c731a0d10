package mcpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"hodl"
	"hodl/internal/resume"
)

// around is what happens to a request before the protocol sees it: where it comes
// from, who is calling, how fast.
func (s *Server) around(protocol http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.stop, cancel)()
		out := &answer{ResponseWriter: w, s: s, ctx: ctx}
		defer out.close()
		out.Header().Set("X-Accel-Buffering", "no") // proxies hold streams back otherwise
		who, err := s.identify(ctx, r)
		if err != nil {
			s.Fault(ctx, err)
			out.deny(err)
			return
		}
		who.answer, who.end, out.who = out, cancel, who
		if !who.ends.IsZero() {
			// What is open ends with the credential.
			timer := time.AfterFunc(who.ends.Sub(s.Store.Now()), cancel)
			defer timer.Stop()
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			out.Header().Set("Access-Control-Allow-Origin", origin)
			out.Header().Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, X-Request-Id")
		}
		protocol.ServeHTTP(out, r.WithContext(context.WithValue(ctx, whoKey{}, who)))
	})
}

// identify finds out who is calling. A credential is a resume token when it has the
// form of a JWT, else a key; an access token of an authorization server has a place
// beside them.
func (s *Server) identify(ctx context.Context, r *http.Request) (*who, error) {
	if err := s.checkHost(r); err != nil {
		return nil, err
	}
	origin := r.Header.Get("Origin")
	if http.NewCrossOriginProtection().Check(r) == nil {
		origin = "" // no page, or one of this server's own
	}
	credential, err := bearer(r.Header.Get("Authorization"))
	if err != nil {
		return nil, err
	}
	call := resume.Call{Surface: resume.MCP, Audience: r.Header.Get("Hodl-Audience"), Detail: s.Detail(ctx)}
	if strings.Count(credential, ".") == 2 {
		call.Token = credential
		return s.byToken(ctx, call, origin)
	}
	return s.byKey(ctx, call, credential, origin)
}

func (s *Server) byToken(ctx context.Context, call resume.Call, origin string) (*who, error) {
	if origin != "" {
		return nil, forbidden(origin)
	}
	call, claims, err := s.Resume.Present(ctx, call)
	if err != nil {
		return nil, err
	}
	return &who{call: call, claims: claims, ends: time.Unix(claims.Expires, 0).Add(hodl.ClockSkew), credential: call.Token}, nil
}

func (s *Server) byKey(ctx context.Context, call resume.Call, key, origin string) (*who, error) {
	p, err := s.Keys.Authenticate(ctx, key)
	if err != nil {
		return nil, err
	}
	if origin != "" && !p.Allows(origin) {
		return nil, forbidden(origin)
	}
	if err := p.CheckPlace(call.Detail.Address, origin); err != nil {
		return nil, hodl.Errorf(hodl.InvalidKey, "this key does not work from here").WithHint("use it from the addresses it is bound to, or make a key for this one")
	}
	if a := call.Audience; a != "" && a != s.resource() && a != resume.Local {
		return nil, hodl.Errorf(hodl.AudienceMismatch, "an API key is not for %.80q", a).WithHint("leave Hodl-Audience out")
	}
	if limit, ok := s.Requests.Take(p.Workspace, p.Plan, p.Mode, s.Store.Now()); !ok {
		return nil, hodl.TooFast(limit, "this workspace sends requests faster than its plan allows")
	}
	call.Key = p
	return &who{call: call, key: p, ends: p.ExpiresAt, credential: key}, nil
}

func bearer(header string) (string, error) {
	scheme, credential, _ := strings.Cut(header, " ")
	if credential = strings.TrimSpace(credential); credential == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", hodl.Errorf(hodl.MissingCredentials, "the request carries no credentials").WithHint("send Authorization: Bearer and an API key, or a resume token for this address")
	}
	return credential, nil
}

func forbidden(origin string) error {
	return hodl.Errorf(hodl.Forbidden, "this door is not open to pages of %.256q", origin).WithHint("add the origin to the origins of an API key, and use that")
}

// checkHost refuses a request that reached the loopback address under a name that is
// not this server's: a page that has its own name point here (DNS rebinding) is
// stopped, a proxy on the same machine is not.
func (s *Server) checkHost(r *http.Request) error {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !isLoopback(local.String()) || isLoopback(r.Host) {
		return nil
	}
	if public, err := url.Parse(s.PublicURL); err == nil && strings.EqualFold(public.Host, r.Host) {
		return nil
	}
	return hodl.Errorf(hodl.Forbidden, "this server is not called %.256q", r.Host).WithHint("use the server's public URL, or have the proxy pass its Host on")
}

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// statusOf is the status of a refusal: 401 for every fault of a credential, 403 when
// only a scope is missing.
func statusOf(err error) int {
	switch c := hodl.CodeOf(err); {
	case isCredential(c):
		return http.StatusUnauthorized
	case c == hodl.InsufficientScope, c == hodl.Forbidden:
		return http.StatusForbidden
	case c == hodl.RateLimited:
		return http.StatusTooManyRequests
	case c == hodl.Unavailable, errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
