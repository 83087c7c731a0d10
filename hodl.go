package hodl

import (
	"strconv"
	"time"
)

// A Hodl is one captured unit of work context: a page, a place in a file, a
// thought. It belongs to the user whose key captured it.
type Hodl struct {
	ID        HodlID    `json:"id" doc:"Identifier, made by the server" example:"hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC"`
	URL       string    `json:"url,omitempty" doc:"Address of the captured work item"`
	Title     string    `json:"title,omitempty" doc:"Title of the captured item"`
	Note      string    `json:"note,omitempty" doc:"Free text written by the user or program"`
	Tags      []string  `json:"tags" doc:"Labels, in the order given"`
	Source    Source    `json:"source" enum:"editor,browser,node,python,rest,mcp,cli" doc:"The kind of client that captured it"`
	Location  *Location `json:"location,omitempty" doc:"Where in a repository the work stood"`
	SessionID SessionID `json:"session_id,omitempty" doc:"The session it belongs to"`
	CreatedAt time.Time `json:"created_at" doc:"When it was captured (RFC 3339, UTC)"`
	UpdatedAt time.Time `json:"updated_at" doc:"When it last changed (RFC 3339, UTC)"`
	DeletedAt time.Time `json:"deleted_at,omitzero" doc:"When it was deleted; only is:deleted finds one that was"`
	DeepLink  string    `json:"deep_link,omitempty" doc:"Opens the work item at the exact place"`
}

// Undoable is how long a deleted hodl can be restored. After that it is purged.
const Undoable = 30 * 24 * time.Hour

// Revision names the state of a hodl: it differs after every change. It is the
// hodl's entity tag.
func (h *Hodl) Revision() string {
	s := strconv.FormatInt(h.UpdatedAt.UnixMicro(), 36)
	if h.SessionID != "" {
		s += "." + string(h.SessionID) // a deleted session lets go of its hodls
	}
	return s
}

// Source is the kind of client that captured a hodl.
type Source string

// Sources lists every kind of client.
var Sources = []Source{"editor", "browser", "node", "python", "rest", "mcp", "cli"}

// A Location is a place in a file of a repository, as an editor shows it; or in
// the page or medium at the hodl's URL: a selected text, a second.
type Location struct {
	Repository string     `json:"repository,omitempty" doc:"Remote address or name of the repository"`
	File       string     `json:"file,omitempty" doc:"Path, relative to the repository's root"`
	Line       int        `json:"line,omitzero" minimum:"0" doc:"Line, counted from 1"`
	Column     int        `json:"column,omitzero" minimum:"0" doc:"Column, counted from 1 in UTF-16 code units"`
	Branch     string     `json:"branch,omitempty" doc:"Branch that was checked out"`
	Commit     string     `json:"commit,omitempty" doc:"Commit that was checked out"`
	TimestampS *float64   `json:"timestamp_s,omitempty" minimum:"0" doc:"Position in the medium at url, in seconds"`
	Selection  *Selection `json:"selection,omitempty" doc:"What was selected"`
}

// A Selection is a range of text in a file. Lines and columns count as in
// [Location]; the end is exclusive. In a page they are 0.
type Selection struct {
	StartLine   int    `json:"start_line" required:"false" minimum:"0" doc:"First line, counted from 1"`
	StartColumn int    `json:"start_column" required:"false" minimum:"0" doc:"First column, counted from 1 in UTF-16 code units"`
	EndLine     int    `json:"end_line" required:"false" minimum:"0" doc:"Last line"`
	EndColumn   int    `json:"end_column" required:"false" minimum:"0" doc:"Column after the last character"`
	Text        string `json:"text,omitempty" doc:"The selected text"`
}

// HodlDraft is what a client sends to capture a hodl.
type HodlDraft struct {
	URL       string    `json:"url,omitempty" doc:"Address of the captured work item; at most 8 KiB"`
	Title     string    `json:"title,omitempty" doc:"Title of the captured item; at most 1 KiB"`
	Note      string    `json:"note,omitempty" doc:"Free text; at most 64 KiB"`
	Tags      []string  `json:"tags,omitempty" doc:"Labels; at most 64 of 128 bytes"`
	Source    Source    `json:"source,omitempty" enum:"editor,browser,node,python,rest,mcp,cli" doc:"The kind of client; rest when absent"`
	Location  *Location `json:"location,omitempty" doc:"Where in a repository the work stood"`
	SessionID SessionID `json:"session_id,omitempty" doc:"A session of the same user and mode to attach it to"`
}

// HodlChange is a partial update: a nil field stays as it is.
type HodlChange struct {
	URL       *string    `json:"url,omitempty" doc:"New address"`
	Title     *string    `json:"title,omitempty" doc:"New title"`
	Note      *string    `json:"note,omitempty" doc:"New note"`
	Tags      *[]string  `json:"tags,omitempty" doc:"New labels, replacing the old ones"`
	Location  *Location  `json:"location,omitempty" doc:"New place"`
	SessionID *SessionID `json:"session_id,omitempty" doc:"New session; empty to detach"`
}

// Apply returns the draft of h with the change made.
func (c HodlChange) Apply(h *Hodl) HodlDraft {
	d := HodlDraft{h.URL, h.Title, h.Note, h.Tags, h.Source, h.Location, h.SessionID}
	set(&d.URL, c.URL)
	set(&d.Title, c.Title)
	set(&d.Note, c.Note)
	set(&d.Tags, c.Tags)
	set(&d.SessionID, c.SessionID)
	if c.Location != nil {
		d.Location = c.Location
	}
	return d
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
