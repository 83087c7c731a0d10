package auth_test

import (
	"context"
	"errors"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/auth"
)

var form = regexp.MustCompile(`^hodl_(live|test)_[0-9A-Za-z]{50}$`)

func TestNewKeysAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range []hodl.Mode{hodl.Live, hodl.Sandbox} {
		for range 500 {
			key := auth.NewKey(m)
			if !form.MatchString(key) || !auth.WellFormed(key) || seen[key] {
				t.Fatalf("the key %s", key)
			}
			if strings.HasPrefix(key, "hodl_live_") != (m == hodl.Live) {
				t.Errorf("a key of mode %s is %s", m, key)
			}
			seen[key] = true
		}
	}
}

// The checksum is a CRC-32 in base62, so that scanners can check it without us.
func TestChecksum(t *testing.T) {
	key := auth.NewKey(hodl.Live)
	body, sum := key[:len(key)-6], key[len(key)-6:]
	want := new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))).Text(62)
	if strings.TrimLeft(sum, "0") != strings.TrimLeft(want, "0") {
		t.Errorf("the checksum is %s, want %s", sum, want)
	}
}

func TestLookAlikesAreNotWellFormed(t *testing.T) {
	key := auth.NewKey(hodl.Live)
	for i := range key {
		other := byte('A')
		if key[i] == other {
			other = 'B'
		}
		if mutant := key[:i] + string(other) + key[i+1:]; auth.WellFormed(mutant) {
			t.Errorf("changed at %d it is still well formed", i)
		}
	}
	for _, s := range []string{"", "hodl_live_", key[:len(key)-1], key + "0", "Bearer " + key, "uh_test_" + key[10:], strings.ToUpper(key)} {
		if auth.WellFormed(s) {
			t.Errorf("%q is well formed", s)
		}
	}
}

// Each digit is as likely as any other.
func TestDigitsAreUnbiased(t *testing.T) {
	counts := map[rune]int{}
	const keys = 4000
	for range keys {
		for _, r := range auth.NewKey(hodl.Live)[10:54] {
			counts[r]++
		}
	}
	mean := float64(keys*44) / 62
	for r, n := range counts {
		if float64(n) < mean*0.85 || float64(n) > mean*1.15 { // eight deviations
			t.Errorf("%c comes %d times, the mean is %.0f", r, n, mean)
		}
	}
	if len(counts) != 62 {
		t.Errorf("there are %d digits", len(counts))
	}
}

func TestLastFour(t *testing.T) {
	for key, want := range map[string]string{"": "", "ab": "ab", "abcd": "abcd", "abcdef": "cdef"} {
		if got := auth.LastFour(key); got != want {
			t.Errorf("of %q: %q", key, got)
		}
	}
}

// A shelf is a store of principals that counts how often it is asked.
type shelf struct {
	known map[[32]byte]*hodl.Principal
	err   error
	asked atomic.Int64
}

func (s *shelf) Principal(_ context.Context, digest [32]byte) (*hodl.Principal, error) {
	s.asked.Add(1)
	if s.err != nil {
		return nil, s.err
	}
	if p := s.known[digest]; p != nil {
		return p, nil
	}
	return nil, hodl.Errorf(hodl.NotFound, "no key of this digest")
}

// A principal is trusted for a second without asking; Forget ends that at once; who
// is not known is asked for every time.
func TestAuthenticate(t *testing.T) {
	key, now := auth.NewKey(hodl.Live), time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	me := &hodl.Principal{Key: "key_me"}
	s := &shelf{known: map[[32]byte]*hodl.Principal{auth.Digest(key): me}}
	keys := auth.NewKeys(s, func() time.Time { return now })
	for _, tt := range []struct {
		name   string
		before func()
		key    string
		asked  int64
		code   hodl.Code
	}{
		{"first", func() {}, key, 1, ""},
		{"again", func() {}, key, 1, ""},
		{"within the second", func() { now = now.Add(999 * time.Millisecond) }, key, 1, ""},
		{"after it", func() { now = now.Add(time.Millisecond) }, key, 2, ""},
		{"unknown", func() {}, "nobody", 3, hodl.InvalidKey},
		{"unknown again", func() {}, "nobody", 4, hodl.InvalidKey},
		{"known at last", func() { s.known[auth.Digest("nobody")] = me }, "nobody", 5, ""},
		{"revoked, remembered", func() { delete(s.known, auth.Digest(key)) }, key, 5, ""},
		{"revoked, forgotten", keys.Forget, key, 6, hodl.InvalidKey},
		{"nothing", func() {}, "", 7, hodl.InvalidKey},
	} {
		tt.before()
		p, err := keys.Authenticate(t.Context(), tt.key)
		if hodl.CodeOf(err) != tt.code || (err == nil) != (p == me) || s.asked.Load() != tt.asked {
			t.Errorf("%s: %v, %v after %d questions", tt.name, p, err, s.asked.Load())
		}
	}
}

// A store that does not answer is no proof that a key is wrong.
func TestStoreFaultIsNoRefusal(t *testing.T) {
	fault := errors.New("disk")
	keys := auth.NewKeys(&shelf{err: fault}, time.Now)
	if _, err := keys.Authenticate(t.Context(), "k"); !errors.Is(err, fault) || hodl.CodeOf(err) != hodl.Internal {
		t.Errorf("the error is %v", err)
	}
}
