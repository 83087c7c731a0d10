package store

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"hodl"
	"hodl/internal/ledger"
)

// A preparedRecord is a record encoded in canonical JSON but for its place in the
// log, which only the transaction knows. All the costly work is done before the
// writer sees it.
type preparedRecord struct {
	record     *hodl.Record
	detail     hodl.RecordDetail
	head, tail []byte // around the digits of seq
	salt       [32]byte
}

// asMembers leaves out what is marked omitempty by its Go value, as the API does:
// who has read a record there can rebuild its canonical bytes.
var asMembers = json.JoinOptions(json.Deterministic(true), jsonv1.OmitEmptyWithLegacySemantics(true))

// prepare encodes r. The fields of [hodl.Record] stand in the order RFC 8785
// sorts them, so plain encoding is canonical; a test holds that.
func prepare(r *hodl.Record, d hodl.RecordDetail) (*preparedRecord, error) {
	const hole = `"seq":-1`
	r.Seq = -1
	body, err := json.Marshal(r, asMembers)
	if err != nil {
		return nil, fmt.Errorf("encode access record: %w", err)
	}
	// Quotes inside strings are escaped, so the hole is found nowhere else.
	i := bytes.Index(body, []byte(hole))
	p := &preparedRecord{record: r, detail: d, head: body[:i+len(hole)-2], tail: body[i+len(hole):]}
	_, _ = rand.Read(p.salt[:]) // never fails: it ends the program instead
	return p, nil
}

// at returns the row of the record at place seq.
func (p *preparedRecord) at(part partition, seq int64) recordRow {
	body := make([]byte, 0, len(p.head)+len(p.tail)+12)
	body = append(body, p.head...)
	body = strconv.AppendInt(body, seq, 10)
	body = append(body, p.tail...)
	return recordRow{
		partition: part, seq: seq, record: p.record, detail: p.detail,
		body: body, salt: p.salt, commitment: ledger.Commit(p.salt, body),
	}
}
