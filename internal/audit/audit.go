// Package audit verifies an access log as a stranger does: from an export and the
// log's verifier key, or from the log's own files. It trusts nothing the server says
// but what is signed.
package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"hodl"
	"hodl/internal/ledger"
)

// Report is what was checked of a log.
type Report struct {
	Origin  string `json:"origin"`
	Size    int64  `json:"size"`    // records under the signed root
	Root    string `json:"root"`    // in base64
	Records int64  `json:"records"` // held against their commitments
	Hidden  int64  `json:"hidden"`  // other people's: their commitments are in the tree
	Erased  int64  `json:"erased"`  // no longer bound, for their person was erased
	Tiles   int64  `json:"tiles"`   // held against the records
	Anchors int64  `json:"anchors"` // entries of the server's log, held against the records
}

// A Fault is the first thing wrong.
type Fault struct {
	Seq    int64         // -1 when it is not one record
	Record hodl.RecordID // "" when it is not known
	What   string
}

func (f *Fault) Error() string {
	switch {
	case f.Record != "":
		return fmt.Sprintf("record %d, %s, %s", f.Seq, f.Record, f.What)
	case f.Seq >= 0:
		return fmt.Sprintf("record %d %s", f.Seq, f.What)
	}
	return f.What
}

func fault(seq int64, id hodl.RecordID, what string, args ...any) error {
	return &Fault{seq, id, fmt.Sprintf(what, args...)}
}

// head is the first line of an export, and line each other one.
type head struct {
	Format     string           `json:"format"`
	Workspace  hodl.WorkspaceID `json:"workspace_id"`
	Mode       hodl.Mode        `json:"mode"`
	Checkpoint string           `json:"checkpoint"`
}

type line struct {
	Seq        int64           `json:"seq"`
	Commitment []byte          `json:"commitment"`
	Salt       []byte          `json:"salt"`
	Record     json.RawMessage `json:"record"`
	Misfiled   string          `json:"misfiled"`
}

// id is what the record says it is, "" when it says nothing.
func (x *line) id() hodl.RecordID {
	var said struct{ ID hodl.RecordID }
	_ = json.Unmarshal(x.Record, &said)
	return said.ID
}

const (
	format   = "hodl-access-log/1"
	mostLine = 8 << 20
)

// A Log is a log's own files, beside an export of it. Each part may be missing.
type Log struct {
	Tiles   ledger.Tiles // nil: an export alone
	Anchors *Anchors     // nil: without the server's log
}

// Export verifies an export: every record is what its commitment binds, the
// commitments are the tree that was signed, none is missing. With l it also holds
// them against the tree as it is served, tile by tile, which names a record that was
// changed together with its commitment.
func Export(r io.Reader, l Log, verifiers ...ledger.Verifier) (*Report, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), mostLine)
	var h head
	if !in.Scan() || json.Unmarshal(in.Bytes(), &h) != nil || h.Format != format {
		return nil, errors.Join(in.Err(), fmt.Errorf("this is no export of an access log: its first line says no %s", format))
	}
	c, err := ledger.OpenCheckpoint(h.Checkpoint, verifiers...)
	if err != nil {
		return nil, fault(-1, "", "%v", err)
	}
	a := &auditor{head: h, c: c, log: l, erased: map[hodl.UserID]int64{}, report: &Report{Origin: c.Origin, Size: c.Size, Root: c.Root.String()}}
	for in.Scan() {
		var x line
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			return a.report, fault(a.tree.Size(), "", "is no line of an export: %v", err)
		}
		if err := a.add(&x); err != nil {
			return a.report, err
		}
	}
	if err := in.Err(); err != nil {
		return a.report, err
	}
	return a.report, a.end()
}

type auditor struct {
	head    head
	c       ledger.Checkpoint
	log     Log
	report  *Report
	tree    ledger.Frontier
	leaves  []byte // of the tile that is being filled
	ids     []hodl.RecordID
	upper   map[ledger.Tile][]byte
	unbound []unbound
	erased  map[hodl.UserID]int64 // when each person was erased
}

// unbound is a record whose salt is gone.
type unbound struct {
	seq  int64
	id   hodl.RecordID
	user hodl.UserID
}

// add checks the next record.
func (a *auditor) add(x *line) error {
	switch want := a.tree.Size(); {
	case x.Seq > want && want < a.c.Size:
		return fault(want, "", "is missing: record %d follows record %d", x.Seq, want-1)
	case x.Seq != want || want == a.c.Size:
		return fault(x.Seq, x.id(), "is one too many: %d are signed", a.c.Size)
	}
	id, err := a.bound(x)
	if err != nil {
		return err
	}
	leaf := ledger.Leaf(x.Commitment)
	a.leaves, a.ids = append(a.leaves, leaf[:]...), append(a.ids, id)
	a.tree.Append(leaf, func(level int, index int64, h ledger.Hash) {
		t := ledger.Tile{Level: level, Index: index / ledger.TileWidth}
		if a.upper == nil {
			a.upper = map[ledger.Tile][]byte{}
		}
		a.upper[t] = append(a.upper[t], h[:]...)
	})
	if err := a.log.Anchors.reached(a.tree.Size(), a.tree.Root); err != nil {
		return err
	}
	if len(a.ids) == ledger.TileWidth {
		return a.tile()
	}
	return nil
}

// bound holds a record against its commitment.
func (a *auditor) bound(x *line) (hodl.RecordID, error) {
	if x.Record == nil {
		a.report.Hidden++
		return "", nil
	}
	var said hodl.Record
	if err := json.Unmarshal(x.Record, &said); err != nil {
		return "", fault(x.Seq, "", "is no access record: %v", err)
	}
	if said.Kind == hodl.KindErased {
		a.erased[said.User] = x.Seq
	}
	if x.Salt == nil {
		a.unbound = append(a.unbound, unbound{x.Seq, said.ID, said.User})
		return said.ID, x.filed(said.ID)
	}
	body := jsontext.Value(x.Record)
	if err := body.Canonicalize(); err != nil {
		return "", fault(x.Seq, said.ID, "is no JSON: %v", err)
	}
	a.report.Records++
	if len(x.Salt) != 32 {
		return "", fault(x.Seq, said.ID, "has a salt of %d bytes", len(x.Salt))
	}
	if sum := ledger.Commit([32]byte(x.Salt), body); !bytes.Equal(sum[:], x.Commitment) {
		return "", fault(x.Seq, said.ID, "is not what its commitment binds: the record, its salt or its commitment was changed")
	}
	if said.Seq != x.Seq || said.Workspace != a.head.Workspace || said.Mode != a.head.Mode {
		return "", fault(x.Seq, said.ID, "says it is record %d of %s (%s)", said.Seq, said.Workspace, said.Mode)
	}
	return said.ID, x.filed(said.ID)
}

func (x *line) filed(id hodl.RecordID) error {
	if x.Misfiled == "" {
		return nil
	}
	return fault(x.Seq, id, "is filed as another than it is: the database's column %.20q was changed", x.Misfiled)
}

// tile holds the leaves gathered against the tile that the log serves.
func (a *auditor) tile() error {
	width := len(a.ids)
	first := a.tree.Size() - int64(width)
	defer func() { a.leaves, a.ids = a.leaves[:0], a.ids[:0] }()
	if a.log.Tiles == nil || width == 0 {
		return nil
	}
	t := ledger.Tile{Index: first / ledger.TileWidth, Width: width}
	served, err := a.log.Tiles([]ledger.Tile{t})
	if err != nil {
		return fault(-1, "", "tile %s cannot be read: %v", t.Path(), err)
	}
	a.report.Tiles++
	for i := range width {
		if at := i * len(ledger.Hash{}); !bytes.Equal(a.leaves[at:at+len(ledger.Hash{})], served[0][at:at+len(ledger.Hash{})]) {
			return fault(first+int64(i), a.ids[i], "is not the one in the tree: it was changed together with its commitment")
		}
	}
	return nil
}

// end checks what all records must be together.
func (a *auditor) end() error {
	newest := slices.Clone(a.ids)
	if err := a.tile(); err != nil {
		return err
	}
	if a.tree.Size() != a.c.Size {
		return fault(a.tree.Size(), "", "is missing: %d records are signed, %d are there", a.c.Size, a.tree.Size())
	}
	for _, u := range a.unbound {
		if after, ok := a.erased[u.user]; !ok || after < u.seq {
			return fault(u.seq, u.id, "has no salt, and nobody was erased: its details were deleted")
		}
		a.report.Erased++
	}
	if a.tree.Root() != a.c.Root {
		return a.forged(newest)
	}
	return a.tilesAbove()
}

// forged tells of a record that was changed together with its commitment, and so that
// no tile shows it: the newest tile is made of the commitments themselves. Of what it
// was there is only the signed root, and the roots in the server's log, between two of
// which it is.
func (a *auditor) forged(newest []hodl.RecordID) error {
	const what = "changed together with its commitment, for the records are not those under the signed root"
	from, to := a.log.Anchors.differ(a.c.Size)
	if first := a.c.Size - int64(len(newest)); to-from == 1 && from >= first {
		return fault(from, newest[from-first], "was %s", what)
	}
	if a.log.Anchors == nil {
		return fault(-1, "", "a record was %s; an older export or a receipt tells which", what)
	}
	return fault(-1, "", "one of the records %d to %d was %s; an older export or a receipt tells which", from, to-1, what)
}

// tilesAbove holds the tiles above the leaves against the records.
func (a *auditor) tilesAbove() error {
	if a.log.Tiles == nil {
		return nil
	}
	for t, hashes := range a.upper {
		t.Width = len(hashes) / len(ledger.Hash{})
		served, err := a.log.Tiles([]ledger.Tile{t})
		if err != nil {
			return fault(-1, "", "tile %s cannot be read: %v", t.Path(), err)
		}
		a.report.Tiles++
		if !bytes.Equal(served[0], hashes) {
			return fault(-1, "", "tile %s does not fit the records", t.Path())
		}
	}
	n, err := a.log.Anchors.end(a.c)
	a.report.Anchors = n
	return err
}
