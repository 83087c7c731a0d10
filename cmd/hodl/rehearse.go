package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"hodl"
	"hodl/client"
	"hodl/internal/bookmark"
)

// A rehearsal is what reading a file comes to, without a server.
type rehearsal struct {
	Sound  int         `json:"sound"`
	Failed int         `json:"failed"`
	Errors []lineFault `json:"errors"` // of the first 50
	DryRun bool        `json:"dry_run"`
}

type lineFault struct {
	Line    int    `json:"line"` // counted from 1
	Message string `json:"message"`
}

// rehearse reads a file as the server would, and tells what is wrong with it. What is
// there already only the server knows.
func (e *env) rehearse(file *bufio.Reader, media string) error {
	r := rehearsal{DryRun: true, Errors: []lineFault{}}
	read := r.lines
	if media == client.Bookmarks {
		read = r.bookmarks
	}
	if err := read(file); err != nil {
		return err
	}
	if e.json {
		return e.printJSON(r)
	}
	for _, x := range r.Errors {
		e.note("line %d: %s", x.Line, x.Message)
	}
	return e.printLine(fmt.Sprintf("would import %d, of which those that are there are skipped; %d are at fault", r.Sound, r.Failed))
}

func (r *rehearsal) lines(file *bufio.Reader) error {
	for number := 1; ; number++ {
		text, err := file.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.TrimSpace(text)) > 0 {
			r.note(number, checkLine(text))
		}
		if err != nil {
			return nil //nolint:nilerr // the end of the file
		}
	}
}

func checkLine(text []byte) error {
	var h hodl.Hodl
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&h); err != nil {
		return errors.New("is not a hodl: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	d := hodl.HodlChange{}.Apply(&h)
	return d.Check()
}

func (r *rehearsal) bookmarks(file *bufio.Reader) error {
	return bookmark.Read(file, func(b bookmark.Bookmark) error {
		d := hodl.HodlDraft{URL: b.URL, Source: "browser"} // the rest is cut to what is allowed
		r.note(b.Line, d.Check())
		return nil
	})
}

func (r *rehearsal) note(line int, err error) {
	const enough = 50
	if err == nil {
		r.Sound++
		return
	}
	r.Failed++
	message := err.Error()
	if refused, ok := errors.AsType[*hodl.Error](err); ok {
		message = refused.Message
	}
	if len(r.Errors) < enough {
		r.Errors = append(r.Errors, lineFault{line, message})
	}
}
