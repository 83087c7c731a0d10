package crashtest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"hodl"
	"hodl/internal/ledger"
)

// check compares what clients were told with what lies in the database, and the
// database with itself. It returns what is wrong, in no order.
func check(j *journal, s *snapshot) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := &checker{j: j, s: s}
	for m, log := range s.logs {
		c.log(m, log)
		c.usage(m, log)
	}
	c.sort()
	c.hydrations()
	c.tokens()
	c.sessions()
	c.hodls()
	c.events()
	return append(slices.Clone(j.faults), c.faults...)
}

type checker struct {
	j      *journal
	s      *snapshot
	faults []string

	byToken map[hodl.TokenID]map[hodl.RecordKind]int
	writes  map[hodl.SessionID]map[string]int // fingerprint → write records
	found   map[hodl.RecordID]*recordState    // hydrate records
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// log checks that a log has no gap, that its head knows its length, and that each
// record is what its commitment binds.
func (c *checker) log(m hodl.Mode, log *logState) {
	ids := map[hodl.RecordID]bool{}
	tree := &ledger.Frontier{}
	for i := range log.records {
		r := &log.records[i]
		if r.seq != int64(i) {
			c.fault("%s log: seq %d at place %d", m, r.seq, i)
		}
		if ids[r.id] {
			c.fault("%s log: the record %s is there twice", m, r.id)
		}
		ids[r.id] = true
		if sum := sha256.Sum256([]byte("hodl/acc/v1" + string(r.salt) + r.body)); len(r.salt) != 32 || !bytes.Equal(sum[:], r.commitment) {
			c.fault("%s log: the commitment at %d does not hold", m, r.seq)
		}
		tree.Append(ledger.Leaf(r.commitment), nil)
		if root, signed := c.j.roots[m][tree.Size()]; signed && root != tree.Root() {
			c.fault("%s log: a fork: the root over %d records was another", m, tree.Size())
		}
		said := &r.said
		if said.Seq != r.seq || said.ID != r.id || said.Kind != r.kind || said.Session != r.session || said.JTI != r.jti || said.Mode != m {
			c.fault("%s log: the columns at %d say otherwise than its body", m, r.seq)
		}
	}
	if !bytes.Equal(tree.Pack(), log.tree) {
		c.fault("%s log: the tree of %d records is not the one in its head", m, tree.Size())
	}
	for size := range c.j.roots[m] {
		if size > tree.Size() {
			c.fault("%s log: a rollback: %d records were signed, there are %d", m, size, tree.Size())
		}
	}
	c.j.signed(m, tree.Size(), tree.Root())
	if log.size != int64(len(log.records)) {
		c.fault("%s log: the head says %d, there are %d records", m, log.size, len(log.records))
	}
}

// usage checks that each month's counter is the number of its hydrate records.
func (c *checker) usage(m hodl.Mode, log *logState) {
	counted := map[string]int64{}
	for i := range log.records {
		if r := &log.records[i]; r.kind == hodl.KindHydrate {
			counted[hodl.Month(r.said.At)]++
		}
	}
	for month := range log.usage {
		counted[month] += 0
	}
	for month, n := range counted {
		if log.usage[month] != n {
			c.fault("%s: %d hydrations counted in %s, %d recorded", m, log.usage[month], month, n)
		}
	}
}

// sort files the records by what they are about.
func (c *checker) sort() {
	c.byToken, c.writes, c.found = map[hodl.TokenID]map[hodl.RecordKind]int{}, map[hodl.SessionID]map[string]int{}, map[hodl.RecordID]*recordState{}
	for _, log := range c.s.logs {
		for i := range log.records {
			r := &log.records[i]
			if c.byToken[r.jti] == nil {
				c.byToken[r.jti] = map[hodl.RecordKind]int{}
			}
			c.byToken[r.jti][r.kind]++
			switch r.kind {
			case hodl.KindHydrate:
				c.found[r.id] = r
			case hodl.KindWrite:
				if c.writes[r.session] == nil {
					c.writes[r.session] = map[string]int{}
				}
				c.writes[r.session][r.said.Fingerprint]++
			}
		}
	}
}

// hydrations checks that what an agent received is recorded, as it received it.
func (c *checker) hydrations() {
	for id, h := range c.j.hydrations {
		r := c.found[id]
		switch {
		case r == nil:
			c.fault("the hydration %s was acknowledged and is not recorded", id)
		case r.jti != h.token || r.said.Fingerprint != h.fingerprint || r.session != c.j.tokens[h.token].session:
			c.fault("the hydration %s is recorded as another's", id)
		}
	}
}

// tokens checks each token's counter, records and revocation against each other
// and against what its holders were told.
func (c *checker) tokens() {
	minted := map[hodl.Mode]int{}
	for id, x := range c.s.tokens {
		minted[x.mode]++
		n := c.byToken[id]
		if n[hodl.KindMint] != 1 {
			c.fault("%s has %d records of its minting", id, n[hodl.KindMint])
		}
		if n[hodl.KindHydrate] != x.hydrations {
			c.fault("%s counts %d hydrations and has %d records", id, x.hydrations, n[hodl.KindHydrate])
		}
		if revoked := n[hodl.KindRevoke]; revoked > 1 || (revoked == 1) != x.revoked {
			c.fault("%s has %d records of its revocation; revoked: %t", id, revoked, x.revoked)
		}
		if c.j.tokens[id] == nil && n[hodl.KindHydrate]+n[hodl.KindRevoke] > 0 {
			c.fault("%s was never shown to anyone and was used", id)
		}
	}
	for id, claim := range c.j.tokens {
		x := c.s.tokens[id]
		if x == nil {
			c.fault("the token %s was acknowledged and is not there", id)
			continue
		}
		if !claim.hydrations.allows(x.hydrations) || x.hydrations > claim.most {
			c.fault("%s was hydrated %d times; its holders know of %v, at most %d", id, x.hydrations, claim.hydrations, claim.most)
		}
		if x.revoked && claim.revocation.sent == 0 || !x.revoked && claim.revocation.acked > 0 {
			c.fault("%s: revoked %t, revocations acknowledged %d of %d", id, x.revoked, claim.revocation.acked, claim.revocation.sent)
		}
		if x.session != claim.session || x.mode != claim.mode {
			c.fault("%s opens %s (%s) instead of %s (%s)", id, x.session, x.mode, claim.session, claim.mode)
		}
	}
	for m, n := range minted {
		if !c.j.mints[m].allows(n) {
			c.fault("%s: %d tokens; clients know of %v", m, n, c.j.mints[m])
		}
	}
}

// sessions checks that every acknowledged version is there, that the session stands
// at the last of them or at one made after it, and that each write by an agent has
// one record.
func (c *checker) sessions() {
	created := map[hodl.Mode]int{}
	for id, x := range c.s.sessions {
		created[x.mode]++
		if _, ok := x.versions[x.fingerprint]; !ok {
			c.fault("%s stands at a version that is not there", id)
		}
		for fingerprint, author := range x.versions {
			want := 0
			if strings.HasPrefix(author, "agent:") {
				want = 1
			}
			if n := c.writes[id][fingerprint]; n != want {
				c.fault("%s: a version by %s has %d records", id, author, n)
			}
		}
		if claim := c.j.sessions[id]; claim != nil && !claim.writes.allows(len(x.versions)) {
			c.fault("%s has %d versions; clients know of %v", id, len(x.versions), claim.writes)
		}
	}
	for id, claim := range c.j.sessions {
		c.session(id, claim, c.s.sessions[id])
	}
	for m, n := range created {
		if !c.j.created[m].allows(n) {
			c.fault("%s: %d sessions; clients know of %v", m, n, c.j.created[m])
		}
	}
}

func (c *checker) session(id hodl.SessionID, claim *sessionClaim, x *sessionState) {
	if x == nil {
		if len(claim.made) > 0 {
			c.fault("the session %s was acknowledged and is not there", id)
		}
		return
	}
	for _, fingerprint := range claim.made {
		author, ok := x.versions[fingerprint]
		if !ok {
			c.fault("%s: the version %s was acknowledged and is not there", id, fingerprint)
		} else if strings.HasPrefix(author, "agent:") != claim.written[fingerprint] {
			c.fault("%s: the version %s is by %s", id, fingerprint, author)
		}
	}
	newer := claim.unclear && !slices.Contains(claim.made, x.fingerprint)
	if x.fingerprint != claim.last() && !newer {
		c.fault("%s stands at %s, which is not its last version", id, x.fingerprint)
	}
}

func (c *checker) hodls() {
	there := map[hodl.Mode]int{}
	titles := map[string]bool{}
	for id, h := range c.s.hodls {
		there[h.mode]++
		if _, sent := c.j.marks[h.title]; !sent || titles[h.title] {
			c.fault("the hodl %s, titled %q, is there twice or was never sent", id, h.title)
		}
		titles[h.title] = true
	}
	for id, title := range c.j.titles {
		if h := c.s.hodls[id]; h == nil || h.title != title {
			c.fault("the hodl %s was acknowledged and is not there", id)
		}
	}
	for m, n := range there {
		if !c.j.hodls[m].allows(n) {
			c.fault("%s: %d hodls; clients know of %v", m, n, c.j.hodls[m])
		}
	}
}

// events checks that what webhooks will announce is what happened: each capture,
// each mint, and the first hydration of each token.
func (c *checker) events() {
	shared, handed, held := map[hodl.TokenID]int{}, map[hodl.TokenID]int{}, map[hodl.SessionID]int{}
	for _, e := range c.s.events {
		switch e.Type {
		case hodl.SessionShared:
			shared[e.Token]++
		case hodl.SessionHandedOff:
			handed[e.Token]++
		case hodl.SessionHeld:
			held[e.Session]++
		default:
			c.fault("an event %s of %s, which nobody caused", e.Type, e.Session)
		}
	}
	for id, x := range c.s.tokens {
		if shared[id] != 1 || handed[id] != min(x.hydrations, 1) {
			c.fault("%s, hydrated %d times: announced %d times as shared, %d times as handed off", id, x.hydrations, shared[id], handed[id])
		}
	}
	for id, x := range c.s.sessions {
		captured := 0
		for _, author := range x.versions {
			if !strings.HasPrefix(author, "agent:") {
				captured++
			}
		}
		if held[id] != captured {
			c.fault("%s, captured %d times: announced %d times as held", id, captured, held[id])
		}
	}
}
