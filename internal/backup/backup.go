// Package backup writes a whole database into one file, and makes a database of such a
// file: on the same engine or on the other. A backup is taken while servers run, as
// the database is at one moment.
//
// The file is a gzipped tar: manifest.json says what it is, the rows of each table
// follow as JSON lines in parts of bounded size, and end.json closes it with the
// number of rows and a digest of everything before, sealed under the master key. So
// it is known to be whole, to be of this server, and to open with the key at hand.
//
// What is sealed in the database is sealed in the backup, and the rest is as open as
// it is there. The master key is not in it.
package backup

import (
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hodl/internal/seal"
	"hodl/internal/store"
)

const (
	format       = 1
	manifestName = "manifest.json"
	endName      = "end.json"
	partSize     = 1 << 20 // bytes, after which the next part of a table begins

	purpose seal.Purpose = "backup"
)

// A Manifest is what a backup says of itself.
type Manifest struct {
	Format  int           `json:"format"`
	ID      string        `json:"id"` // random, so that no end fits another's beginning
	Schema  int           `json:"schema"`
	Engine  string        `json:"engine"`
	Release string        `json:"release"`
	Master  string        `json:"master_key"` // the id of the current one
	TakenAt time.Time     `json:"taken_at"`
	Tables  []store.Table `json:"tables"`
}

// end is the last member.
type end struct {
	Rows   map[string]int64 `json:"rows"`
	Digest []byte           `json:"digest"` // SHA-256 over the members before, as they were read
	Seal   []byte           `json:"seal"`   // the digest and the rows, under the master key
}

// A Summary is what was backed up or restored.
type Summary struct {
	Manifest
	Rows  map[string]int64 `json:"rows"`
	Bytes int64            `json:"bytes"` // of the file
}

// Sessions and Records are what people count by.
func (s *Summary) Sessions() int64 { return s.Rows["sessions"] }

// Records is how many access records there are.
func (s *Summary) Records() int64 { return s.Rows["access_records"] }

// ErrDamaged tells that a file is no whole backup.
var ErrDamaged = errors.New("the backup is damaged, or was not written to its end")

// encodeRow appends a row as one line: an array, bytes in base64.
func encodeRow(b []byte, row []any) ([]byte, error) {
	cells := make([]any, len(row))
	for i, v := range row {
		if raw, ok := v.([]byte); ok {
			v = base64.StdEncoding.EncodeToString(raw)
		}
		cells[i] = v
	}
	line, err := json.Marshal(cells)
	return append(append(b, line...), '\n'), err
}

// decodeRow reads what encodeRow wrote for the columns of t.
func decodeRow(line []byte, t *store.Table) ([]any, error) {
	var cells []jsontext.Value
	if err := json.Unmarshal(line, &cells); err != nil {
		return nil, err
	}
	if len(cells) != len(t.Columns) {
		return nil, fmt.Errorf("a row of %s has %d values for %d columns", t.Name, len(cells), len(t.Columns))
	}
	row := make([]any, len(cells))
	for i, c := range cells {
		var err error
		if row[i], err = decodeCell(c, t.Columns[i].Kind); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.Name, t.Columns[i].Name, err)
		}
	}
	return row, nil
}

func decodeCell(c jsontext.Value, kind string) (any, error) {
	if c.Kind() == 'n' {
		return nil, nil
	}
	switch kind {
	case "integer":
		return decodeAs[int64](c)
	case "real":
		return decodeAs[float64](c)
	case "bytes":
		return decodeAs[[]byte](c)
	}
	return decodeAs[string](c)
}

func decodeAs[T any](c jsontext.Value) (any, error) {
	var x T
	err := json.Unmarshal(c, &x)
	return x, err
}
