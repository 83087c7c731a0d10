package client

import (
	"net/url"
	"strconv"
	"time"
)

// A Page says which part of a list is wanted, newest first.
type Page struct {
	Limit  int       // 1 to 100; 20 when zero
	Cursor string    // Next of the page before
	Since  time.Time // only what came at or after this; zero for all
}

func (p Page) query() url.Values {
	q := url.Values{}
	if p.Limit != 0 {
		q.Set("limit", strconv.Itoa(p.Limit))
	}
	set(q, "cursor", p.Cursor)
	setTime(q, "since", p.Since)
	return q
}

func set[T ~string](q url.Values, name string, value T) {
	if value != "" {
		q.Set(name, string(value))
	}
}

func setTime(q url.Values, name string, t time.Time) {
	if !t.IsZero() {
		q.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
}
