package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/decode"
	"hodl/internal/store"
)

const (
	ndjson    = "application/x-ndjson"
	bookmarks = "text/html"

	// stall is how long a stream may stand still before the connection is given up.
	stall = time.Minute
)

// exportReply streams: whatever there is, one page at a time is in memory.
type exportReply struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition" doc:"A name for the file"`
	Body        func(huma.Context)
}

func (*exportReply) describe(r huma.Registry) map[string]*huma.MediaType {
	r.Schema(reflect.TypeFor[hodl.Hodl](), true, "")
	return map[string]*huma.MediaType{ndjson: {Schema: &huma.Schema{Type: huma.TypeString, Description: "A hodl as JSON on each line, newest first"}}}
}

func (s *server) hodlExport(ctx context.Context, _ *struct{}) (*exportReply, error) {
	p := principal(ctx)
	f := store.HodlFilter{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Limit: hodl.MaxPerPage}
	first, err := s.Store.Hodls(ctx, f)
	if err != nil {
		return nil, err // as long as nothing is sent, a fault can be told
	}
	return &exportReply{ndjson, `attachment; filename="hodls.ndjson"`, func(out huma.Context) {
		if err := s.export(out, f, first); err != nil {
			fault(ctx, err)
			panic(http.ErrAbortHandler) // half an export must not look like a whole one
		}
	}}, nil
}

func (s *server) export(out huma.Context, f store.HodlFilter, page []*hodl.Hodl) error {
	for len(page) > 0 {
		lines := make([]any, 0, len(page))
		for _, h := range withLinks(page) {
			lines = append(lines, h)
		}
		if err := writeLines(out, lines...); err != nil {
			return err
		}
		if len(page) < f.Limit {
			return nil
		}
		f.Before = page[len(page)-1].ID
		var err error
		if page, err = s.Store.Hodls(out.Context(), f); err != nil {
			return err
		}
	}
	return nil
}

// writeLines sends values as JSON, one on each line. The connection is given up when
// nothing of them is taken for long.
func writeLines(out huma.Context, values ...any) error {
	_, w := humago.Unwrap(out)
	// A connection that knows no deadlines is a test's.
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(stall)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	var lines bytes.Buffer
	for _, v := range values {
		if err := json.MarshalWrite(&lines, v, json.Deterministic(true)); err != nil {
			return err
		}
		lines.WriteByte('\n')
	}
	_, err := out.BodyWriter().Write(lines.Bytes())
	return err
}

// ImportInput reads its body by itself: it may be larger than memory is meant for.
type ImportInput struct {
	Format string `query:"format" enum:"ndjson,netscape" doc:"What the file is, when Content-Type does not tell: an export of ours, or a bookmark file"`
	Type   string `header:"Content-Type" doc:"application/x-ndjson, or text/html for a bookmark file"`

	body io.Reader
}

// Resolve is asked by huma before the handler runs.
func (in *ImportInput) Resolve(ctx huma.Context) []error {
	r, w := humago.Unwrap(ctx)
	in.body = &patient{http.MaxBytesReader(w, r.Body, hodl.MaxImport), http.NewResponseController(w)}
	return nil
}

// describeBody tells the document what an import takes.
func (*ImportInput) describeBody() *huma.RequestBody {
	content := map[string]*huma.MediaType{
		ndjson: {}, bookmarks: {},
		"application/json": {}, // a hodl by itself is a file of one line; with a schema, huma would read it
	}
	return &huma.RequestBody{Description: "At most 64 MiB; an empty file imports nothing", Content: content}
}

// A patient reader gives a slow sender time, as long as something comes.
type patient struct {
	io.Reader
	connection *http.ResponseController
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.connection.SetReadDeadline(time.Now().Add(stall)) // without deadlines the server's own holds
	n, err := p.Reader.Read(b)
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		err = hodl.Errorf(hodl.PayloadTooLarge, "the file is larger than 64 MiB").WithHint("send it in parts; what was imported is skipped when it comes again")
	}
	return n, err
}

type importReply struct {
	Body struct {
		Imported int           `json:"imported" doc:"How many hodls are new"`
		Skipped  int           `json:"skipped" doc:"How many were there already; they stay as they are"`
		Failed   int           `json:"failed" doc:"How many cannot be imported"`
		Errors   []importError `json:"errors" doc:"Why, for the first 50"`
	}
}

type importError struct {
	Line    int               `json:"line" doc:"The line of the file, counted from 1"`
	Message string            `json:"message" doc:"What is wrong"`
	Fields  []hodl.FieldError `json:"fields,omitempty" doc:"Every field at fault"`
}

func (s *server) hodlImport(ctx context.Context, in *ImportInput) (*importReply, error) {
	read := readLines(in.body)
	if kind := mediaType(in.Type); in.Format == "netscape" || in.Format == "" && kind == bookmarks {
		read = capture.Bookmarks(in.body)
	}
	report, err := s.Capture.Import(ctx, principal(ctx), read)
	if err != nil {
		return nil, importFault(err)
	}
	out := &importReply{}
	out.Body.Imported, out.Body.Skipped, out.Body.Failed = report.Imported, report.Skipped, report.Failed
	for _, l := range report.Errors {
		e := toWire(l.Err).Err
		out.Body.Errors = append(out.Body.Errors, importError{l.Number, e.Message, e.Fields})
	}
	return out, nil
}

// importFault tells a file that broke off from a fault of ours.
func importFault(err error) error {
	if _, ours := errors.AsType[*hodl.Error](err); ours {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled) || isTimeout(err) {
		return hodl.Errorf(hodl.BadRequest, "the body broke off").WithHint("send all of it again; what was imported is skipped")
	}
	return err
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && e.Timeout()
}

// readLines reads an export, a hodl on each line.
func readLines(r io.Reader) func(take func(capture.Line) error) error {
	return func(take func(capture.Line) error) error {
		in := bufio.NewReaderSize(r, 64<<10)
		for number := 1; ; number++ {
			text, err := readLine(in)
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if len(bytes.TrimSpace(text)) > 0 {
				if err := take(parseLine(number, text)); err != nil {
					return err
				}
			}
			if err != nil {
				return nil //nolint:nilerr // the end of the file
			}
		}
	}
}

// readLine returns a line, or its beginning when it is longer than a request may be.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= hodl.MaxRequest {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func parseLine(number int, text []byte) capture.Line {
	l := capture.Line{Number: number}
	if len(text) > hodl.MaxRequest {
		l.Err = hodl.Invalid("line", "is longer than 2 MiB")
		return l
	}
	if err := json.Unmarshal(text, &l.Hodl, json.RejectUnknownMembers(true)); err != nil {
		l.Err = decode.Fault(err)
	}
	return l
}
