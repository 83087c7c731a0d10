package hodl_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hodl"
)

func TestIDsSortByTime(t *testing.T) {
	var ids hodl.IDs
	form := regexp.MustCompile(`^ses_[0-9A-HJKMNP-TV-Z]{26}$`)
	now := time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)
	var list []string
	for range 2000 {
		id := ids.New("ses", now)
		if !form.MatchString(id) {
			t.Fatalf("the id %s", id)
		}
		if _, err := hodl.ParseSessionID(id); err != nil {
			t.Fatal(err)
		}
		list = append(list, id)
		now = now.Add(7*24*time.Hour + time.Millisecond)
	}
	if !slices.IsSorted(list) {
		t.Error("ids do not sort by the time they were made")
	}
}

// Lists are in the order of ids: what is made in one millisecond stays in order too.
func TestIDsOfOneMillisecond(t *testing.T) {
	var ids hodl.IDs
	now := time.Now()
	var list []string
	for i := range 10000 {
		list = append(list, ids.New([]string{"hdl", "key"}[i%2], now)[4:])
	}
	if !slices.IsSorted(list) {
		t.Error("ids of one millisecond do not sort by the order they were made in")
	}
}

// The time can be read from an id as from a ULID.
func TestIDsHoldTheirTime(t *testing.T) {
	var ids hodl.IDs
	at := time.UnixMilli(1_469_918_176_385)
	if id := ids.New("x", at); !strings.HasPrefix(id, "x_01ARYZ6S41") { // the ULID specification's own example
		t.Errorf("the id is %s", id)
	}
}

func TestIDsAreDistinct(t *testing.T) {
	var ids hodl.IDs
	now := time.Now()
	var mu sync.Mutex
	seen := map[string]bool{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2000 {
				id := ids.New("rt", now)
				mu.Lock()
				if seen[id] {
					t.Errorf("%s came twice", id)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

func TestParseSessionID(t *testing.T) {
	for s, ok := range map[string]bool{
		"ses_8f3aZ91b": true, "ses_a": true, "ses_" + strings.Repeat("Z", 64): true,
		"": false, "ses_": false, "ses": false, "SES_a": false, "ses_a_b": false, "ses_a-b": false, "ses_é": false, "ses_a\n": false, " ses_a": false,
		"ses_" + strings.Repeat("Z", 65): false, "rt_a": false,
	} {
		if _, err := hodl.ParseSessionID(s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestParseMode(t *testing.T) {
	for s, ok := range map[string]bool{"live": true, "sandbox": true, "": false, "Live": false, "test": false} {
		if _, err := hodl.ParseMode(s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}
