package store

import (
	"context"
	"encoding/binary"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// columns gathers values column by column, as unnest takes them.
type columns []column

// A column is an array of text, bigint, bytea or tid as it goes over the wire
// (PostgreSQL's array_recv): a head that is filled in at the end, then each value
// behind its length. To box and encode every value by itself took a third of the
// allocations of a batch.
type column struct {
	buf  []byte
	rows int
	kind uint32 // OID of the values, which the first one decides
}

const (
	arrayHead = 20         // dimensions, flags, type, length and lower bound, 4 bytes each
	null      = ^uint32(0) // a length of -1
)

func newColumns(n int) columns { return make(columns, n) }

// add appends one row of string, int64, []byte or [pgtype.TID]. A nil []byte is null.
func (c columns) add(values ...any) {
	for i, v := range values {
		x := &c[i]
		switch v := v.(type) {
		case string:
			x.grow(pgtype.TextOID, len(v))
			x.buf = append(x.size(len(v)), v...)
		case int64:
			x.grow(pgtype.Int8OID, 8)
			x.buf = binary.BigEndian.AppendUint64(x.size(8), uint64(v))
		case []byte:
			x.grow(pgtype.ByteaOID, len(v))
			if v == nil {
				x.buf = binary.BigEndian.AppendUint32(x.buf, null)
			} else {
				x.buf = append(x.size(len(v)), v...)
			}
		case pgtype.TID:
			x.grow(pgtype.TIDOID, 6)
			x.buf = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(x.size(6), v.BlockNumber), v.OffsetNumber)
		}
	}
}

// A column first has room for a usual batch of ids, and for no more of what is longer.
const (
	usualBatch = 32
	usualRoom  = 4 << 10
)

func (x *column) grow(kind uint32, size int) {
	if x.rows++; x.rows == 1 {
		x.kind, x.buf = kind, make([]byte, arrayHead, arrayHead+4+size+min(usualBatch*(4+size), usualRoom))
	}
}

func (x *column) size(n int) []byte { return binary.BigEndian.AppendUint32(x.buf, uint32(n)) }

func (c columns) empty() bool { return c[0].rows == 0 }

// args are the parameters of a statement.
func (c columns) args() []any {
	out := make([]any, len(c))
	for i := range c {
		out[i] = &c[i]
	}
	return out
}

// queueTo sends one statement for all rows; none, none.
func (c columns) queueTo(b *pgx.Batch, text string) {
	if !c.empty() {
		b.Queue(text, c.args()...)
	}
}

// packing teaches a connection to send columns.
func packing(_ context.Context, conn *pgx.Conn) error {
	m := conn.TypeMap()
	for _, oid := range []uint32{pgtype.TextArrayOID, pgtype.Int8ArrayOID, pgtype.ByteaArrayOID, pgtype.TIDArrayOID} {
		t, _ := m.TypeForOID(oid)
		m.RegisterType(&pgtype.Type{Name: t.Name, OID: oid, Codec: packed{t.Codec}})
	}
	return nil
}

// packed is the codec of an array that knows a column.
type packed struct{ pgtype.Codec }

func (p packed) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(*column); ok && format == pgtype.BinaryFormatCode {
		return p
	}
	return p.Codec.PlanEncode(m, oid, format, value)
}

// Encode appends a column.
func (packed) Encode(value any, buf []byte) ([]byte, error) {
	x := value.(*column)
	head := x.buf[:0:arrayHead]
	for _, field := range []uint32{1, 1, x.kind, uint32(x.rows), 1} { // one dimension, in which there may be nulls, from 1
		head = binary.BigEndian.AppendUint32(head, field)
	}
	return append(buf, x.buf...), nil
}
