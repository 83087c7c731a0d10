package capture

import (
	"cmp"
	"context"
	"time"

	"hodl"
	"hodl/internal/store"
)

// A Line is one hodl of a file, or why there is none.
type Line struct {
	Number int // counted from 1
	Hodl   hodl.Hodl
	Err    error
}

// A Report tells what became of the lines of a file.
type Report struct {
	Imported, Skipped, Failed int
	Errors                    []Line // why the first of the failed did
}

// Bounds of what an import holds at once.
const (
	importStep  = 200     // hodls
	importBytes = 1 << 20 // of text
	enough      = 50      // errors that are told
)

// Import saves hodls that were exported, or bookmarks. What is there already stays
// as it is and is counted as skipped: the same id, or, of one that brings no id, a
// hodl that says the same. A hodl whose session is not the caller's is imported
// without it.
//
// read hands over the lines of a file one by one. What was imported before an error
// stays; the same file sent again goes on from there. So it needs no idempotency key
// for what it writes.
func (s *Service) Import(ctx context.Context, p *hodl.Principal, read func(take func(Line) error) error) (*Report, error) {
	ctx = store.WithOnce(ctx, nil)
	out := &Report{}
	var step []Line
	size := 0
	flush := func() error {
		lines := step
		step, size = step[:0], 0
		return s.importStep(ctx, p, lines, out)
	}
	err := read(func(l Line) error {
		step, size = append(step, l), size+len(l.Hodl.Note)+len(l.Hodl.URL)+len(l.Hodl.Title)+512
		if len(step) < importStep && size < importBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return out, err
}

func (r *Report) fail(l Line, err error) {
	r.Failed++
	if len(r.Errors) < enough {
		r.Errors = append(r.Errors, Line{Number: l.Number, Err: err})
	}
}

// importStep imports some lines.
func (s *Service) importStep(ctx context.Context, p *hodl.Principal, lines []Line, out *Report) error {
	list := make([]hodl.Hodl, len(lines))
	for i := range lines {
		list[i] = lines[i].Hodl
	}
	there, err := s.store.HodlsThere(ctx, p.Workspace, p.Mode, p.User, list)
	if err != nil {
		return err
	}
	all := make([]HodlResult, 0, len(list))
	places := make([]int, 0, len(list))
	for i, l := range lines {
		if l.Err == nil {
			l.Err = s.complete(&list[i])
		}
		switch {
		case l.Err != nil:
			out.fail(l, l.Err)
		case there[i]:
			out.Skipped++
		default:
			all, places = append(all, HodlResult{Hodl: withLink(list[i])}), append(places, i)
		}
	}
	if err := s.keepSessions(ctx, p, all); err != nil {
		return err
	}
	s.putAll(ctx, p, all)
	for n, r := range all {
		switch hodl.CodeOf(r.Err) {
		case "":
			out.Imported++
		case hodl.Conflict:
			out.Skipped++ // somebody else was faster
		case hodl.ValidationFailed:
			out.fail(lines[places[n]], r.Err)
		default:
			err = r.Err // a fault of the server; the others are counted
		}
	}
	return err
}

// complete checks a hodl that is to be imported and fills in what it does not say.
func (s *Service) complete(h *hodl.Hodl) error {
	now := s.store.Now()
	h.Source = cmp.Or(h.Source, "rest")
	d := hodl.HodlDraft{URL: h.URL, Title: h.Title, Note: h.Note, Tags: h.Tags, Source: h.Source, Location: h.Location, SessionID: h.SessionID}
	if err := d.Check(); err != nil {
		return err
	}
	if h.CreatedAt.IsZero() {
		h.CreatedAt = now
	}
	if h.UpdatedAt.Before(h.CreatedAt) {
		h.UpdatedAt = h.CreatedAt
	}
	if h.CreatedAt.Unix() < 0 || h.UpdatedAt.After(now.Add(time.Minute)) {
		return hodl.Invalid("created_at", "and updated_at must lie between 1970 and now")
	}
	h.CreatedAt, h.UpdatedAt = micros(h.CreatedAt), micros(h.UpdatedAt)
	h.Tags, h.DeletedAt = orEmpty(h.Tags), time.Time{}
	if h.ID == "" {
		h.ID = hodl.HodlID(s.ids.New("hdl", h.CreatedAt))
	}
	if !h.ID.MadeIn(h.CreatedAt) {
		return hodl.Invalid("id", "is none that a server made at created_at; leave it out and the server makes one")
	}
	return nil
}

// micros is a time as it is kept.
func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// keepSessions takes the session from those whose session is not the caller's.
func (s *Service) keepSessions(ctx context.Context, p *hodl.Principal, all []HodlResult) error {
	own := map[hodl.SessionID]bool{}
	for _, r := range all {
		id := r.Hodl.SessionID
		if id == "" {
			continue
		}
		if _, asked := own[id]; !asked {
			standing, err := s.store.SessionStanding(ctx, p.Workspace, p.Mode, id)
			if err != nil {
				return err
			}
			own[id] = standing != nil && standing.User == p.User && standing.State != hodl.Archived
		}
		if !own[id] {
			r.Hodl.SessionID = ""
		}
	}
	return nil
}
