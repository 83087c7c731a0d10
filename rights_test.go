package hodl_test

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"hodl"
)

var (
	now    = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	places = []string{"192.0.2.7", "192.0.2.0/24", "192.0.0.0/16", "2001:db8::/32", "2001:db8::1"}
	sites  = []string{"https://a.example", "https://b.example", "chrome-extension://abcdef"}
)

// allowed reports whether a key with the rights r may do one thing: it is told apart
// from the rules on how keys make keys, which must never let it grow.
func allowed(r hodl.Rights, m hodl.Mode, scope string, at time.Time, from netip.Addr) bool {
	p := hodl.Principal{Scopes: r.Scopes, Addresses: r.Addresses}
	may := p.May(scope) || scope == hodl.CaptureOnly && p.May("hodls:write") && p.May("sessions:write")
	return may && (r.Mode == hodl.Live || m == r.Mode) && (r.ExpiresAt.IsZero() || at.Before(r.ExpiresAt)) && p.CheckPlace(from.String(), "") == nil
}

// wider names a thing that r may do and outer may not, "" for none.
func wider(r, outer hodl.Rights) string {
	for _, m := range []hodl.Mode{hodl.Live, hodl.Sandbox} {
		for _, scope := range hodl.KeyScopes {
			for hours := range 5 {
				at := now.Add(time.Duration(hours) * time.Hour)
				for _, from := range []string{"192.0.2.7", "192.0.2.8", "192.0.9.9", "2001:db8::1", "2001:db8::2", "198.51.100.1"} {
					if a := netip.MustParseAddr(from); allowed(r, m, scope, at, a) && !allowed(outer, m, scope, at, a) {
						return string(m) + " " + scope + " " + at.String() + " " + from
					}
				}
			}
		}
	}
	for _, o := range r.Origins {
		if len(outer.Origins) > 0 && !slices.Contains(outer.Origins, o) {
			return o
		}
	}
	if len(outer.Origins) > 0 && len(r.Origins) == 0 {
		return "no origin"
	}
	return ""
}

func pick[T any](r *rand.Rand, list []T) []T {
	if r.IntN(3) == 0 {
		return nil
	}
	out := []T{}
	for range r.IntN(3) {
		out = append(out, list[r.IntN(len(list))])
	}
	return out
}

func draft(r *rand.Rand) hodl.KeyDraft {
	d := hodl.KeyDraft{Name: "x", Addresses: pick(r, places), Origins: pick(r, sites)}
	if d.Scopes = pick(r, hodl.KeyScopes); r.IntN(3) == 0 {
		d.Mode = []hodl.Mode{hodl.Live, hodl.Sandbox}[r.IntN(2)]
	}
	if r.IntN(2) == 0 {
		at := now.Add(time.Duration(1+r.IntN(4)) * time.Hour)
		d.ExpiresAt = &at
	}
	return d
}

// However a key makes, changes and rotates keys, and those make more, what any of
// them may do the first could.
func TestKeysNeverMakeWiderKeys(t *testing.T) {
	made := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		first := hodl.APIKey{ID: "key_0", Name: "first"}
		d := draft(r)
		rights, err := d.Rights(hodl.Rights{Mode: hodl.Live, Scopes: []string{hodl.Everything}}, now)
		if err != nil {
			continue
		}
		first.Grant(rights)
		family := []*hodl.APIKey{&first}
		for range 30 {
			by, on := family[r.IntN(len(family))], family[r.IntN(len(family))]
			if k := breed(r, by, on); k != nil {
				family = append(family, k)
			}
		}
		for _, k := range family {
			if what := wider(k.Rights(), rights); what != "" {
				t.Fatalf("seed %d: %+v does what %+v may not: %s", seed, k.Rights(), rights, what)
			}
		}
		made += len(family)
	}
	if made < 1000 {
		t.Errorf("only %d keys were made: the test tells little", made)
	}
}

// breed lets by make a key, or change or rotate on, and returns a key that is new.
func breed(r *rand.Rand, by, on *hodl.APIKey) *hodl.APIKey {
	mine, its := by.Rights(), on.Rights()
	switch d := draft(r); r.IntN(3) {
	case 0:
		rights, err := d.Rights(mine, now)
		if err != nil {
			return nil
		}
		k := &hodl.APIKey{}
		k.Grant(rights)
		return k
	case 1:
		changed, c := *on, hodl.KeyChange{Scopes: d.Scopes, ExpiresAt: d.ExpiresAt, Addresses: d.Addresses, Origins: d.Origins}
		if c.Apply(&changed, mine, now) == nil {
			*on = changed
		}
		return nil
	}
	if its.Within(&mine) != nil {
		return nil
	}
	k, _ := on.Rotate("key_n", "abcd", now, now.Add(time.Duration(r.IntN(3))*time.Hour))
	return k
}

func TestWiderKeysAreNamed(t *testing.T) {
	end := now.Add(time.Hour)
	later := end.Add(time.Second)
	outer := hodl.Rights{
		Mode: hodl.Sandbox, Scopes: []string{"keys:write", "hodls:write"}, ExpiresAt: end,
		Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Origins: []string{"https://a.example"},
	}
	for field, d := range map[string]hodl.KeyDraft{
		"":             {Scopes: []string{"hodls:read"}, ExpiresAt: &end, Addresses: []string{"192.0.2.7"}, Origins: []string{"https://a.example"}},
		"mode":         {Mode: hodl.Live},
		"scopes[1]":    {Scopes: []string{"hodls:read", "sessions:read"}},
		"scopes[0]":    {Scopes: []string{hodl.CaptureOnly}}, // it could make sessions
		"expires_at":   {ExpiresAt: &later},
		"addresses[0]": {Addresses: []string{"192.0.0.0/16"}},
		"addresses":    {Addresses: []string{}},
		"origins[0]":   {Origins: []string{"https://b.example"}},
		"origins":      {Origins: []string{}},
	} {
		d.Name = "x"
		_, err := d.Rights(outer, now)
		if field == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		e, ok := errors.AsType[*hodl.Error](err)
		if !ok || e.Code != hodl.Forbidden || e.Hint == "" || len(e.Fields) != 1 || e.Fields[0].Path != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestKeyDraftsAreChecked(t *testing.T) {
	past := now
	all := hodl.Rights{Mode: hodl.Live, Scopes: []string{hodl.Everything}}
	many := make([]string, hodl.MaxPlaces+1)
	for i := range many {
		many[i] = "192.0.2.7"
	}
	for field, d := range map[string]hodl.KeyDraft{
		"name":         {},
		"mode":         {Mode: "test"},
		"scopes":       {Scopes: []string{}},
		"scopes[0]":    {Scopes: []string{"join"}},
		"scopes[1]":    {Scopes: []string{"hodls:read", "hodls:read"}},
		"expires_at":   {ExpiresAt: &past},
		"addresses":    {Addresses: many},
		"addresses[0]": {Addresses: []string{"fe80::1%eth0"}},
		"addresses[1]": {Addresses: []string{"::1", "::ffff:192.0.2.0/120"}},
		"origins[0]":   {Origins: []string{"https://example.com/"}},
		"origins[1]":   {Origins: []string{"https://example.com", "null"}},
		"origins[2]":   {Origins: []string{"http://localhost:3000", "moz-extension://1-2", "https://*.example.com"}},
	} {
		if d.Name = "x"; field == "name" {
			d.Name = ""
		}
		_, err := d.Rights(all, now)
		if got := pathOf(err); got != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestKeysAreBoundToPlaces(t *testing.T) {
	p := hodl.Principal{Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::1/128")}, Origins: []string{"https://a.example"}}
	for _, tt := range []struct {
		address, origin string
		ok              bool
	}{
		{"192.0.2.7", "", true},
		{"::ffff:192.0.2.7", "", true},
		{"::1", "https://a.example", true},
		{"fe80::1%eth0", "", false},
		{"192.0.3.7", "", false},
		{"", "", false},
		{"nonsense", "", false},
		{"192.0.2.7", "https://b.example", false},
		{"192.0.2.7", "null", false},
		{"192.0.2.7", "https://A.example", false},
	} {
		if err := p.CheckPlace(tt.address, tt.origin); (err == nil) != tt.ok || err != nil && hodl.CodeOf(err) != hodl.Forbidden {
			t.Errorf("from %q, page of %q: %v", tt.address, tt.origin, err)
		}
	}
	free := hodl.Principal{}
	if free.CheckPlace("@", "") != nil || free.CheckPlace("192.0.2.7", "https://a.example") == nil {
		t.Error("a key without a list works from anywhere, and for no page")
	}
}
