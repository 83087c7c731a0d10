package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"hodl"
	"hodl/internal/ledger"
)

// rows is the unit of work of one batch: the rows its writes asked for, locked by
// the engine, and what the writes decided about them. A key that maps to nil after
// loading has no row. Engines save what is fresh (insert) or dirty (update) and
// everything in the lists: revoked and erased first, for what a later write of the
// batch puts in their place must stay.
type rows struct {
	logs     map[partition]*logRow
	usage    map[usageKey]*usageRow
	tokens   map[tokenKey]*tokenRow
	sessions map[sessionKey]*sessionRow
	hodls    map[hodlKey]*hodlRow
	tags     map[tagKey]int64       // by how much the count of each changes
	once     map[onceKey]*onceRow   // nil while no write has an idempotency key
	proofs   map[proofKey]*proofRow // nil while no write spends a proof
	dataKeys map[dataKeyRef]bool    // true for one that seals
	versions []versionRow
	records  []recordRow
	tiles    map[tileKey][]byte // hashes to add at the end of tiles above level 0
	leaves   []tileKey          // tiles of level 0 that have become full
	events   []hodl.Event
	revoked  []revocation // every token a session has in the database
	ended    []endRow     // those of a subject, whatever it is

	lineages map[tokenKey]struct{}   // tokens whose ancestors are wanted too
	families map[tokenKey]time.Time  // tokens whose children are wanted too: those live then
	swept    map[partition]time.Time // whose expired proofs go, and when; nil as proofs is
	erased   []sessionKey            // the session and its versions, as the database has them
}

// needed asks for the rows that a batch wants.
func needed(batch []*write) *rows {
	r := newRows()
	for _, w := range batch {
		r.ask(w)
	}
	return r
}

// ask adds what a write wants.
func (r *rows) ask(w *write) {
	w.need(r)
	for _, k := range w.seals {
		r.dataKeys[k] = false
	}
}

// partitions are those of the rows that hydrations change as well.
func (r *rows) partitions() map[partition]bool {
	out := map[partition]bool{}
	for p := range r.logs {
		out[p] = true
	}
	for k := range r.usage {
		out[k.partition] = true
	}
	for k := range r.tokens {
		out[k.partition] = true
	}
	for k := range r.sessions {
		out[k.partition] = true
	}
	return out
}

func newRows() *rows {
	return &rows{
		logs: map[partition]*logRow{}, usage: map[usageKey]*usageRow{},
		tokens: map[tokenKey]*tokenRow{}, sessions: map[sessionKey]*sessionRow{}, hodls: map[hodlKey]*hodlRow{}, tags: map[tagKey]int64{},
		tiles:    map[tileKey][]byte{},
		lineages: map[tokenKey]struct{}{}, families: map[tokenKey]time.Time{},
		dataKeys: map[dataKeyRef]bool{},
	}
}

// A partition is what a log, a quota and an id space belong to.
type partition struct {
	ws   hodl.WorkspaceID
	mode hodl.Mode
}

func (p partition) compare(o partition) int {
	return cmp.Or(cmp.Compare(p.ws, o.ws), cmp.Compare(p.mode, o.mode))
}

type usageKey struct {
	partition
	month string
}

type tokenKey struct {
	partition
	id hodl.TokenID
}

type sessionKey struct {
	partition
	id hodl.SessionID
}

func (k sessionKey) compare(o sessionKey) int {
	return cmp.Or(k.partition.compare(o.partition), cmp.Compare(k.id, o.id))
}

type logRow struct {
	size     int64
	tree     *ledger.Frontier
	before   *ledger.Frontier // the tree as it was read, once it has grown
	added    []ledger.Hash    // the leaves after it
	signed   []byte           // the signatures of the head
	signedAt int64            // the size they were promised for, in the journal; 0 for none
	epoch    int64            // tokens minted at a place from here on are under no revocation of many
	plan     hodl.PlanName
	limits   hodl.TokenLimits
	policy   PolicyState
	receipts bool // whether tokens get them
	dirty    bool
	ctid     pgtype.TID // where PostgreSQL has the row
}

// A mark says what a commit does with a row: it inserts a fresh one and updates one
// that is dirty.
type mark struct{ fresh, dirty bool }

func (m *mark) marked() *mark { return m }

type usageRow struct {
	hydrations int64
	mark
}

type tokenRow struct {
	hodl.Token
	seq  int64      // place of its mint in the log
	ctid pgtype.TID // where PostgreSQL has the row
	mark
}

type sessionRow struct {
	member      hodl.UserID
	head        []byte // sealed; nil leaves the stored one
	state       hodl.State
	fingerprint string
	capturedAt  time.Time
	createdAt   time.Time
	updatedAt   time.Time
	hour        time.Time // since when hydrations are counted
	hydrations  int       // so many
	byKey       int64     // hydrations without a token, ever

	mark
}

type hodlKey struct {
	partition
	member hodl.UserID
	id     hodl.HodlID
}

func (k hodlKey) compare(o hodlKey) int {
	return cmp.Or(k.partition.compare(o.partition), cmp.Compare(k.member, o.member), cmp.Compare(k.id, o.id))
}

type hodlRow struct {
	hodl.Hodl          // loaded: only UpdatedAt, DeletedAt and Tags
	selection []byte   // sealed
	tags      string   // as JSON
	place     string   // Location as JSON
	known     []byte   // loaded empty: the hodl is not indexed yet
	words     []string // as the engine indexes them; nil leaves the index as it is

	mark
}

// counted are the tags by which a hodl is counted: those of a deleted one are not,
// nor of one that the index does not know yet.
func (x *hodlRow) counted() []string {
	if x == nil || len(x.known) == 0 || !x.DeletedAt.IsZero() {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(x.Tags)))
}

// changedHodls lists the hodls to save, in the order of their keys: an import brings
// ids along, and two servers that add the same ones must meet in the same order.
func (r *rows) changedHodls() []hodlKey {
	keys := make([]hodlKey, 0, len(r.hodls))
	for k, x := range r.hodls {
		if x != nil && x.dirty {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, hodlKey.compare)
	return keys
}

// A tagKey is a tag as one user uses it.
type tagKey struct {
	partition
	member hodl.UserID
	tag    string
}

func (k tagKey) compare(o tagKey) int {
	return cmp.Or(cmp.Compare(k.ws, o.ws), cmp.Compare(k.mode, o.mode), cmp.Compare(k.member, o.member), cmp.Compare(k.tag, o.tag))
}

// putHodl puts a hodl in the place of what was there, and counts its tags.
func (r *rows) putHodl(k hodlKey, next *hodlRow) {
	for _, t := range r.hodls[k].counted() {
		r.tags[tagKey{k.partition, k.member, t}]--
	}
	for _, t := range next.counted() {
		r.tags[tagKey{k.partition, k.member, t}]++
	}
	r.hodls[k] = next
}

// countedTags lists the tags whose count changes, in the order of their keys: two
// servers that count the same ones must meet in the same order, or each waits for
// the other.
func (r *rows) countedTags() []tagKey {
	keys := make([]tagKey, 0, len(r.tags))
	for k, n := range r.tags {
		if n != 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, tagKey.compare)
	return keys
}

// A revocation ends every token of a session.
type revocation struct {
	sessionKey
	at     time.Time
	reason string
}

type versionRow struct {
	sessionKey
	fingerprint string
	capturedAt  time.Time
	author      string
	body        []byte // sealed
}

type recordRow struct {
	partition
	seq        int64
	record     *hodl.Record
	detail     hodl.RecordDetail
	body       []byte
	salt       [32]byte
	commitment [32]byte
}

// append gives the prepared record the next place in its log.
//
// The caller has named the log among its needs.
func (r *rows) append(p partition, rec *preparedRecord) int64 {
	log := r.logs[p]
	row := rec.at(p, log.size)
	r.add(log, row)
	return row.seq
}

// add puts a record at the end of its log.
func (r *rows) add(log *logRow, row recordRow) {
	log.size++
	log.dirty = true
	r.records = append(r.records, row)
	r.grow(row.partition, log, row.commitment)
}

// revoke ends every token of a session: those in the database, and those the
// batch has locked or made, so that its later writes see them ended.
func (r *rows) revoke(k sessionKey, at time.Time, reason string) {
	r.revoked = append(r.revoked, revocation{k, at, reason})
	for tk, t := range r.tokens {
		if t != nil && tk.partition == k.partition && t.Session == k.id && t.RevokedAt.IsZero() {
			t.RevokedAt, t.RevokeReason = at, reason
		}
	}
}

// erase removes a session and its versions. Later writes of the batch find none.
func (r *rows) erase(k sessionKey) {
	r.erased = append(r.erased, k)
	r.sessions[k] = nil
	r.versions = slices.DeleteFunc(r.versions, func(v versionRow) bool { return v.sessionKey == k })
	for hk, h := range r.hodls {
		if h != nil && hk.partition == k.partition && h.SessionID == k.id {
			h.SessionID = ""
		}
	}
}

// announce queues an event about a session for the webhooks.
func (r *rows) announce(e hodl.Event) { r.events = append(r.events, e) }

// wantLog and the like name a row a write needs.
func (r *rows) wantLog(p partition) { r.logs[p] = nil }

func (r *rows) wantSession(p partition, id hodl.SessionID) sessionKey {
	k := sessionKey{p, id}
	r.sessions[k] = nil
	return k
}

func (r *rows) wantToken(p partition, id hodl.TokenID) tokenKey {
	k := tokenKey{p, id}
	r.tokens[k] = nil
	return k
}

// wantUsage is for a write that has named the log as well.
func (r *rows) wantUsage(p partition, month string) usageKey {
	k := usageKey{p, month}
	r.usage[k] = nil
	return k
}

func (r *rows) wantHodl(p partition, member hodl.UserID, id hodl.HodlID) hodlKey {
	k := hodlKey{p, member, id}
	r.hodls[k] = nil
	return k
}

func (r *rows) wantOnce(k onceKey) {
	if r.once == nil {
		r.once = map[onceKey]*onceRow{}
	}
	r.once[k] = nil
}

// log returns a log's head. Every workspace has one for each mode from its
// first day, so its absence means there is no such workspace.
func (r *rows) log(p partition) (*logRow, error) {
	if l := r.logs[p]; l != nil {
		return l, nil
	}
	return nil, hodl.Errorf(hodl.NotFound, "no workspace %s", p.ws)
}
