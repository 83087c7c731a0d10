package token

import (
	"crypto/sha256"
	"slices"
	"sync"

	"hodl"
)

// A cache remembers the claims of tokens whose signature was good, by the
// SHA-256 of the whole token: the token itself is not kept. Nothing that can
// change about a token is remembered, so nothing ever has to be taken out; only
// someone who can have tokens minted can fill it. It holds two generations: when
// the young one is full it becomes the old one, and what is asked for moves back.
type cache struct {
	shards [16]shard
	half   int // entries of one generation in one shard
}

type digest = [sha256.Size]byte

// digestOf hashes a token of at most MaxSize bytes. The copy on the stack is
// there because a conversion would be one on the heap.
func digestOf(token string) digest {
	var buf [MaxSize]byte
	return sha256.Sum256(buf[:copy(buf[:], token)])
}

type shard struct {
	mu         sync.Mutex
	young, old map[digest]*hodl.Claims
}

func newCache(size int) *cache {
	c := &cache{}
	c.half = max(1, size/2/len(c.shards))
	return c
}

func (c *cache) shard(d digest) *shard { return &c.shards[int(d[0])%len(c.shards)] }

// get returns the claims remembered for d, or nil. They are shared: nobody may
// change them.
func (c *cache) get(d digest) *hodl.Claims {
	s := c.shard(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if claims := s.young[d]; claims != nil {
		return claims
	}
	claims := s.old[d]
	if claims != nil {
		s.put(d, claims, c.half)
	}
	return claims
}

func (c *cache) put(d digest, claims *hodl.Claims) {
	s := c.shard(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(d, claims, c.half)
}

func (s *shard) put(d digest, claims *hodl.Claims, half int) {
	if s.young == nil || len(s.young) >= half {
		s.old, s.young = s.young, make(map[digest]*hodl.Claims)
	}
	s.young[d] = claims
}

// clone returns a copy that shares nothing a caller could change.
func clone(c *hodl.Claims) *hodl.Claims {
	out := *c
	out.Scopes = slices.Clone(c.Scopes)
	out.Actor = cloneActor(c.Actor)
	if c.Confirm != nil {
		confirm := *c.Confirm
		out.Confirm = &confirm
	}
	return &out
}

func cloneActor(a *hodl.Actor) *hodl.Actor {
	if a == nil {
		return nil
	}
	return &hodl.Actor{Subject: a.Subject, Actor: cloneActor(a.Actor)}
}
