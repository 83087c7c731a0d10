package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hodl"
)

// keyFlags are the flags that bound a key.
type keyFlags struct {
	mode, expires              string
	scopes, addresses, origins []string
	captureOnly                bool
}

func (k *keyFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&k.mode, "mode", "live", "live or sandbox")
	f.StringSliceVar(&k.scopes, "scope", nil, "what it may do; may be given more than once (default everything)")
	f.StringVar(&k.expires, "expires", "", "when it ends: in so long, such as 90d or 12h, or a `TIME` in RFC 3339 (default never)")
	f.StringSliceVar(&k.addresses, "address", nil, "an address or `RANGE` it may be used from; may be given more than once (default anywhere)")
	f.StringSliceVar(&k.origins, "origin", nil, "a web `ORIGIN` whose pages may use it; may be given more than once (default none)")
	f.BoolVar(&k.captureOnly, "capture-only", false, "a key for browsers, which makes new hodls and sessions and does nothing else")
}

// fill turns the flags into a draft.
func (k *keyFlags) fill(d *hodl.KeyDraft, now time.Time) error {
	d.Mode, d.Scopes, d.Addresses, d.Origins = hodl.Mode(k.mode), k.scopes, k.addresses, k.origins
	if k.captureOnly && k.scopes != nil {
		return errors.New("--capture-only and --scope exclude each other")
	}
	if k.captureOnly {
		d.Scopes = []string{hodl.CaptureOnly}
	}
	if k.expires != "" {
		at, err := moment(k.expires, now)
		if err != nil {
			return err
		}
		d.ExpiresAt = &at
	}
	_, err := d.Rights(hodl.Rights{Mode: hodl.Live, Scopes: []string{hodl.Everything}}, now)
	return err
}

// moment reads a time in RFC 3339, or how long it is until then: 90d, 12h30m.
func moment(s string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	if days, found := strings.CutSuffix(s, "d"); found {
		if n, err := strconv.Atoi(days); err == nil {
			return now.AddDate(0, 0, n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(d), nil
	}
	return now, fmt.Errorf("%s is no time: write 90d, 12h or 2027-01-31T00:00:00Z", s)
}
