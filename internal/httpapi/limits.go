package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hodl"
	"hodl/internal/meter"
)

// mints are the operations that have the mints' bucket instead of the common one.
var mints = map[string]bool{"mintToken": true, "handOffSession": true}

// admit counts a request against its workspace's bucket, before any work is done
// for it, and tells where the workspace stands. When the writer is busy, writes of
// the smaller plans are put off first.
func (s *server) admit(ctx huma.Context, p *hodl.Principal) error {
	rates := s.Requests
	switch {
	case mints[ctx.Operation().OperationID]:
		rates = s.mints
	case p.CaptureOnly():
		rates = s.captures // whoever sees the page has such a key: it stops itself, and nobody else
	}
	limit, ok := rates.Take(p.Workspace, p.Plan, p.Mode, s.Store.Now())
	tell(limit, ctx.SetHeader)
	if !ok {
		return hodl.TooFast(limit, "this workspace sends requests faster than its plan allows")
	}
	plan, err := hodl.PlanOf(p.Plan)
	if err == nil && ctx.Method() != http.MethodGet && !plan.Paced(p.Mode).First && s.Store.Busy() {
		return hodl.Busy()
	}
	return err
}

// tell writes a limit as headers (draft-ietf-httpapi-ratelimit-headers-11 §3, §4):
// q may be done at once and comes back in w seconds; r of it is left, and there is
// no more than that for t seconds. Where nothing is bounded there is nothing to tell.
func tell(l hodl.Limit, set func(name, value string)) {
	if l.Quota == 0 {
		return
	}
	set("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", l.Name, l.Quota, seconds(l.Window)))
	set("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", l.Name, l.Left, seconds(l.Wait)))
}

// seconds is a time as headers have it: whole, and none too early.
func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// Sizes of what comes before a body. The server's own bound on headers is larger,
// so that a refusal has the envelope.
const (
	mostURL     = 32 << 10
	mostHeaders = 64 << 10
)

// checkHead refuses a URL or headers that are too large, by their size.
func checkHead(u *url.URL, h http.Header) error {
	if n := len(u.EscapedPath()) + len(u.RawQuery); n > mostURL {
		return hodl.Errorf(hodl.BadRequest, "the path and the query are %d bytes; at most %d are allowed", n, mostURL).WithHint("send what is long in the body")
	}
	n := 0
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	if n > mostHeaders {
		return hodl.Errorf(hodl.BadRequest, "the headers are %d bytes; at most %d are allowed", n, mostHeaders).WithHint("send fewer headers")
	}
	return nil
}

// rateBody is how fast a workspace may go with one kind of request.
type rateBody struct {
	Name      string `json:"name" enum:"default,captures,mints,hydrations" doc:"What is limited: requests, those of capture-only keys, mints, or uses of resume tokens"`
	PerSecond int    `json:"per_second" doc:"How many a second, in the long run"`
	Burst     int    `json:"burst" doc:"How many at once"`
}

// ratesOf lists the limits of a plan's speed, none where it is not bounded.
func ratesOf(p hodl.Plan, m hodl.Mode) []rateBody {
	out := []rateBody{}
	if p = p.Paced(m); p.PerSecond == 0 {
		return out
	}
	for _, name := range meter.Kinds {
		out = append(out, rateBody{name, p.PerSecond, p.Burst})
	}
	return out
}
