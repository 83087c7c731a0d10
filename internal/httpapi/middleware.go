package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"hodl"
	"hodl/internal/resume"
)

// request is what is known of a request beside its content: for the log line and
// for the detail of an access record.
type request struct {
	id      string
	address string
	agent   string
	how     resume.Presentation
	err     error // the fault behind a refusal; logged, not shown
}

func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey).(*request); ok {
		return r
	}
	return &request{}
}

// Fault remembers the cause of a refusal by another door, and Detail tells from where
// its caller came.
func Fault(ctx context.Context, err error)         { fault(ctx, err) }
func Detail(ctx context.Context) hodl.RecordDetail { return detail(ctx) }

// fault remembers the cause of a refusal for the log.
func fault(ctx context.Context, err error) { requestOf(ctx).err = err }

func detail(ctx context.Context) hodl.RecordDetail {
	r := requestOf(ctx)
	return hodl.RecordDetail{Address: r.address, UserAgent: r.agent}
}

func caller(ctx context.Context) resume.Caller {
	return resume.Caller{Principal: principal(ctx), Detail: detail(ctx)}
}

// around is what happens to every request, whatever its route.
func (s *server) around(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := &request{id: s.requestID(), address: addressOf(r, s.Proxies), agent: clip(r.UserAgent(), 256)}
		r = r.WithContext(context.WithValue(r.Context(), requestKey, info))
		withoutAPI(r.URL)
		info.how = resume.Presentation{Proof: strings.Join(r.Header.Values("DPoP"), ", "), Method: r.Method, Path: r.URL.EscapedPath()}
		out := &recorder{ResponseWriter: w, status: http.StatusOK}
		out.Header().Set("X-Request-Id", info.id)
		out.Header().Set("X-Content-Type-Options", "nosniff")
		out.Header().Set("Cache-Control", "no-store")
		out.Header().Set("Vary", "Origin")
		start := time.Now()
		s.serve(mux, out, r, info)
		s.account(r, out, info, time.Since(start))
		if out.aborted {
			panic(http.ErrAbortHandler) // the client learns that the answer is not whole
		}
	})
}

// withoutAPI turns the published clients' paths into ours, in place: a redirect
// would not be followed.
func withoutAPI(u *url.URL) {
	const prefix = "/api"
	rest, found := strings.CutPrefix(u.EscapedPath(), prefix+"/v1")
	if !found || rest != "" && rest[0] != '/' {
		return
	}
	u.Path = u.Path[len(prefix):]
	if u.RawPath != "" {
		u.RawPath = u.RawPath[len(prefix):]
	}
}

// checkURL refuses what the mux would answer with a redirect, and text that a
// database would choke on.
func checkURL(u *url.URL) error {
	escaped := u.EscapedPath()
	if clean := path.Clean(escaped); clean != escaped && clean+"/" != escaped {
		return hodl.Errorf(hodl.NotFound, "no such path").WithHint("send the path without // . and ..")
	}
	query, err := url.QueryUnescape(u.RawQuery)
	for _, text := range []string{u.Path, query} {
		if err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return hodl.Errorf(hodl.BadRequest, "the path or the query is not text").WithHint("send UTF-8, percent-encoded and without NUL")
		}
	}
	return nil
}

func (s *server) requestID() string {
	if s.Store == nil {
		return ""
	}
	return s.Store.NewID("req")
}

// serve answers, whatever happens: a panic is an internal error, not a broken
// connection, and a path or method the mux does not know gets the envelope.
func (s *server) serve(mux *http.ServeMux, w *recorder, r *http.Request, info *request) {
	defer func() {
		p := recover()
		err, _ := p.(error)
		if w.aborted = errors.Is(err, http.ErrAbortHandler); p == nil || w.aborted {
			return
		}
		s.Log.ErrorContext(r.Context(), "panic", slog.String("request", info.id), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		if !w.wrote {
			writeError(w, hodl.Errorf(hodl.Internal, "panic"))
		}
	}()
	err := checkHead(r.URL, r.Header)
	if err == nil && preflight(w, r) {
		return
	}
	if err == nil {
		err = checkURL(r.URL)
	}
	if err != nil {
		fault(r.Context(), err)
		writeError(w, err)
		return
	}
	if methods, fixed := s.fixed[r.URL.Path]; fixed && !slices.Contains(methods, r.Method) {
		notAllowed(w, r, strings.Join(methods, ", "))
		return
	}
	if _, pattern := mux.Handler(r); pattern == "" {
		s.unrouted(mux, w, r)
		return
	}
	mux.ServeHTTP(w, r)
}

// unrouted asks the mux what it would say, and says it in the envelope.
func (s *server) unrouted(mux *http.ServeMux, w *recorder, r *http.Request) {
	answer := &silent{header: http.Header{}}
	mux.ServeHTTP(answer, r)
	if answer.status == http.StatusMethodNotAllowed {
		notAllowed(w, r, answer.header.Get("Allow"))
		return
	}
	writeError(w, hodl.Errorf(hodl.NotFound, "no such path").WithHint("/docs lists every path"))
}

func notAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	w.Header().Set("Allow", allowed)
	writeError(w, hodl.Errorf(hodl.MethodNotAllowed, "%s does not go here", r.Method).WithHint("use %s", allowed))
}

// fixedPaths lists the methods of the paths without a parameter. To the mux
// DELETE /v1/hodls/latest is DELETE /v1/hodls/{id}: it is neither documented nor meant.
func fixedPaths(spec *huma.OpenAPI) map[string][]string {
	all := map[string][]string{}
	for path, item := range spec.Paths {
		if strings.Contains(path, "{") {
			continue
		}
		methods := slices.Sorted(maps.Keys(operationsOf(item)))
		if i := slices.Index(methods, "GET"); i >= 0 {
			methods = slices.Insert(methods, i+1, "HEAD")
		}
		all[path] = methods
	}
	return all
}

// silent takes an answer's status and headers and drops the rest.
type silent struct {
	header http.Header
	status int
}

func (s *silent) Header() http.Header         { return s.header }
func (s *silent) Write(b []byte) (int, error) { return len(b), nil }
func (s *silent) WriteHeader(status int)      { s.status = status }

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int
	wrote  bool

	aborted bool // half-way, and not to be taken for the whole
}

func (r *recorder) WriteHeader(status int) {
	r.status, r.wrote = status, true
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = true
	n, err := r.ResponseWriter.Write(b)
	r.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController find the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// account writes the request line and counts. Neither holds content, a query or a
// credential: the route's pattern stands in for the path.
func (s *server) account(r *http.Request, w *recorder, info *request, took time.Duration) {
	s.metrics.observe(r.Pattern, w.status, took)
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("id", info.id), slog.String("method", r.Method), slog.String("route", routeOf(r.Pattern)), slog.Int("status", w.status),
		slog.Int("bytes", w.bytes), slog.Duration("took", took), slog.String("address", info.address),
	}
	if info.err != nil {
		code := hodl.CodeOf(info.err)
		attrs = append(attrs, slog.String("code", string(code)))
		if w.status >= http.StatusInternalServerError {
			level = slog.LevelError
			attrs = append(attrs, slog.String("error", info.err.Error()))
		}
	}
	s.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

func routeOf(pattern string) string {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return path
	}
	if pattern == "" {
		return "none"
	}
	return pattern
}

func clip(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func statusText(status int) string { return strconv.Itoa(status) }
