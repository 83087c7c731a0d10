package hodl

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"regexp"
	"sync"
	"time"
)

// Ids are a short prefix, an underscore, then 1–64 letters and digits. Those the
// server makes sort by the time they were made, so that a key that ends in one
// keeps its index dense.
type (
	WorkspaceID string // wks_…
	UserID      string // usr_…
	KeyID       string // key_…
	HodlID      string // hdl_…
	SessionID   string // ses_…; a client may choose it
	TokenID     string // rt_…, the jti of a resume token
	RecordID    string // acr_…
	EventID     string // evt_…
	PolicyID    string // pol_…
	AudienceID  string // aud_…
)

// form is a test for a regular expression, which is compiled at the first text: no
// start of a program waits for it.
func form(pattern string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(s string) bool { return compiled().MatchString(s) }
}

var sessionID = form(`^ses_[A-Za-z0-9]{1,64}$`)

// ParseSessionID checks the form of a session id a client sent.
func ParseSessionID(s string) (SessionID, error) {
	if !sessionID(s) {
		return "", Invalid("session_id", `must be "ses_" followed by 1 to 64 letters and digits`)
	}
	return SessionID(s), nil
}

// IDs makes ids. The zero value is ready and safe for concurrent use.
type IDs struct {
	mu   sync.Mutex
	pool [1024]byte
	left int
	at   int64  // the millisecond of the last id, and
	high uint16 // what follows it there
	low  uint64
}

// crockford is Crockford's base32 alphabet in the order of its digits, as ULID uses it.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// New returns prefix_ followed by 26 letters and digits: 48 bits of Unix
// milliseconds and 80 random bits (the ULID layout). Of two ids made in the same
// millisecond, one after the other, the later sorts behind the earlier: by a random
// step of up to 2⁴⁰, so that nobody can tell it from its neighbour.
func (g *IDs) New(prefix string, now time.Time) string {
	at := now.UnixMilli()
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], uint64(at)<<16)
	high, low := g.next(at)
	binary.BigEndian.PutUint16(raw[6:], high)
	binary.BigEndian.PutUint64(raw[8:], low)
	out := make([]byte, 0, len(prefix)+27)
	out = append(append(out, prefix...), '_')
	return string(appendBase32(out, raw))
}

// next returns the 80 bits of an id. The first ones of a millisecond leave the upper
// half of the range to those that follow.
func (g *IDs) next(at int64) (high uint16, low uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b [10]byte
	g.random(b[:])
	if at != g.at {
		g.at, g.high, g.low = at, binary.BigEndian.Uint16(b[:])>>1, binary.BigEndian.Uint64(b[2:])
		return g.high, g.low
	}
	low, carry := bits.Add64(g.low, 1+binary.BigEndian.Uint64(b[2:])>>24, 0)
	g.high, g.low = g.high+uint16(carry), low
	return g.high, g.low
}

// LowestID returns the lowest id that [IDs.New] makes in the millisecond of t: where
// that time begins in an index of ids.
func LowestID(prefix string, t time.Time) string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], uint64(max(0, t.UnixMilli()))<<16)
	return string(appendBase32([]byte(prefix+"_"), raw))
}

// hodlID is the form of an id that [IDs.New] makes.
var hodlID = form(`^hdl_[0-7][0-9A-HJKMNP-TV-Z]{25}$`)

// MadeIn reports whether id is one that [IDs.New] made within a minute of t. Lists
// are in the order of ids, so an imported one must fit its time.
func (id HodlID) MadeIn(t time.Time) bool {
	return hodlID(string(id)) &&
		string(id) >= LowestID("hdl", t.Add(-time.Minute)) && string(id) < LowestID("hdl", t.Add(time.Minute))
}

// random is called under the lock.
func (g *IDs) random(b []byte) {
	if g.left < len(b) {
		// crypto/rand.Read never fails: it ends the program instead.
		_, _ = rand.Read(g.pool[:])
		g.left = len(g.pool)
	}
	copy(b, g.pool[len(g.pool)-g.left:])
	g.left -= len(b)
}

func appendBase32(out []byte, raw [16]byte) []byte {
	hi, lo := binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
	for shift := 125; shift >= 0; shift -= 5 {
		var digit uint64
		switch {
		case shift >= 64:
			digit = hi >> (shift - 64)
		case shift > 59:
			digit = hi<<(64-shift) | lo>>shift
		default:
			digit = lo >> shift
		}
		out = append(out, crockford[digit&31])
	}
	return out
}

// Mode separates live data from sandbox data. A key, and all that it makes and
// sees, is of one mode.
type Mode string

const (
	Live    Mode = "live"
	Sandbox Mode = "sandbox"
)

// ParseMode reads a mode's name.
func ParseMode(s string) (Mode, error) {
	if m := Mode(s); m == Live || m == Sandbox {
		return m, nil
	}
	return "", Invalid("mode", fmt.Sprintf("is %q; use live or sandbox", s))
}
