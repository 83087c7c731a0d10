package resume_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/render"
	"hodl/internal/resume"
)

// a large session has more than a small bound holds.
func (w *world) putLarge(title string) {
	w.t.Helper()
	d := hodl.SessionDraft{ID: "ses_1", Title: title}
	for i := range 40 {
		long := strings.Repeat("what was read there ", 12)
		d.Tabs = append(d.Tabs, hodl.Tab{URL: "https://example.com/" + string(rune('a'+i%26)) + strings.Repeat("x", i/26), Title: long, SelectedText: strings.Repeat(long, i%2)})
	}
	_, err := w.capture.Session(w.t.Context(), w.caller.Principal, capture.SessionCapture{Draft: d})
	w.must(err)
}

func (w *world) ask(signed string, a resume.Ask) (*hodl.ResumeContext, *resume.Hydration) {
	w.t.Helper()
	a.Format = render.JSON
	h, err := w.Hydrate(w.t.Context(), w.call(signed, "192.0.2.9"), a)
	w.must(err)
	var c hodl.ResumeContext
	w.must(json.Unmarshal(h.Body(), &c))
	return &c, h
}

func (w *world) refused(signed string, a resume.Ask, code hodl.Code) {
	w.t.Helper()
	a.Format = render.JSON
	if h, err := w.Hydrate(w.t.Context(), w.call(signed, "192.0.2.9"), a); hodl.CodeOf(err) != code || h != nil {
		w.t.Errorf("%+v: %v, want %s", a, err, code)
	}
}

func (w *world) used() int64 {
	w.t.Helper()
	n, err := w.store.Used(w.t.Context(), w.caller.Workspace, hodl.Live, hodl.Month(w.now()))
	w.must(err)
	return n
}

func handles(c *hodl.ResumeContext) (out []string) {
	for _, o := range c.Omitted {
		out = append(out, o.Handle)
	}
	return out
}

// What a bound leaves out is fetched with its handles, of the version that was handed
// over, and takes nothing: not even of a token that has nothing left.
func TestContinue(t *testing.T) {
	w := newWorld(t)
	w.putLarge("first")
	token := w.mint(1)
	c, first := w.ask(token, resume.Ask{MaxTokens: 2000})
	if len(c.Omitted) == 0 || len(c.Tabs) == 0 || len(c.Tabs) == 40 {
		t.Fatalf("%d tabs, omitted %+v", len(c.Tabs), c.Omitted)
	}
	w.putLarge("second")
	tabs := len(c.Tabs)
	for left := handles(c); len(left) > 0; {
		part, h := w.ask(token, resume.Ask{Include: left, MaxTokens: 4000})
		r := w.records()[0]
		if r.Kind != hodl.KindContinue || r.Hydration != first.ID || r.ID != h.ID || r.Fingerprint != first.Fingerprint || r.Returned.SHA256 != h.Rendering.SHA256 {
			t.Fatalf("recorded as %+v", r)
		}
		tabs += len(part.Tabs)
		left = handles(part)
	}
	if tabs != 40 {
		t.Errorf("%d tabs in all", tabs)
	}
	if w.used() != 1 {
		t.Errorf("%d hydrations are counted", w.used())
	}
	w.refused(token, resume.Ask{}, hodl.HydrationsExhausted)
}

// A handle works for the token, the session and the hydration it was made for, as it
// was made, for a quarter of an hour.
func TestHandlesAreSealed(t *testing.T) {
	w := newWorld(t)
	w.putLarge("first")
	token, other := w.mint(5), w.mint(5)
	c, _ := w.ask(token, resume.Ask{MaxTokens: 2000})
	good := handles(c)
	second, _ := w.ask(token, resume.Ask{MaxTokens: 2000})
	w.refused(other, resume.Ask{Include: good}, hodl.Gone)
	changed := []byte(good[0])
	for i := range changed {
		was := changed[i]
		if changed[i] = 'A'; was == 'A' {
			changed[i] = 'B'
		}
		h, err := w.Hydrate(t.Context(), w.call(token, ""), resume.Ask{Format: render.JSON, Include: []string{string(changed)}})
		if code := hodl.CodeOf(err); h != nil || code != hodl.ValidationFailed && code != hodl.Gone {
			t.Fatalf("changed at %d: %v", i, err)
		}
		changed[i] = was
	}
	for _, bad := range [][]string{{""}, {"x"}, {good[0] + "0"}, {strings.Repeat("z", 56)}, {good[0], handles(second)[0]}, append(make([]string, 16), good...)} {
		w.refused(token, resume.Ask{Include: bad}, hodl.ValidationFailed)
	}
	w.refused(token, resume.Ask{Include: good, Since: "acr_1"}, hodl.ValidationFailed)
	w.refused(token, resume.Ask{MaxTokens: 100}, hodl.ValidationFailed)
	w.ask(token, resume.Ask{Include: good})
	w.micros.Add((15 * time.Minute).Microseconds())
	w.refused(token, resume.Ask{Include: good}, hodl.Gone)
	for _, r := range w.records() {
		if r.Kind == hodl.KindDenied {
			t.Errorf("a fault of a handle is a denial of the token: %+v", r)
		}
	}
}

// A revoked token continues nothing.
func TestContinuePassesEveryCheck(t *testing.T) {
	w := newWorld(t)
	w.putLarge("first")
	token := w.mint(5)
	c, h := w.ask(token, resume.Ask{MaxTokens: 2000})
	_, err := w.Revoke(t.Context(), w.caller, w.records()[0].JTI, "")
	w.must(err)
	w.refused(token, resume.Ask{Include: handles(c)}, hodl.TokenRevoked)
	w.refused(token, resume.Ask{Since: h.ID}, hodl.TokenRevoked)
}

// Only what changed is handed over, and nothing is counted for nothing.
func TestSince(t *testing.T) {
	w := newWorld(t)
	token := w.mint(3)
	_, first := w.ask(token, resume.Ask{})
	c, same := w.ask(token, resume.Ask{Since: first.ID})
	if r := w.records()[0]; r.Kind != hodl.KindUnchanged || r.Hydration != first.ID || r.ID != same.ID || len(c.Delta.Changed) != 0 || w.used() != 1 {
		t.Fatalf("%+v is recorded as %+v, %d are counted", c.Delta, r, w.used())
	}
	w.put("ses_1", "the lease bug")
	c, second := w.ask(token, resume.Ask{Since: same.ID})
	if r := w.records()[0]; r.Kind != hodl.KindHydrate || r.Hydration != same.ID || w.used() != 2 || c.Title != "the lease bug" || c.Delta == nil || c.Delta.From != first.Fingerprint || len(c.Delta.Changed) != 1 {
		t.Fatalf("%+v is recorded as %+v, %d are counted", c.Delta, r, w.used())
	}
	// What is no earlier hydration of this token gives all there is.
	other := w.mint(3)
	if c, _ := w.ask(other, resume.Ask{Since: second.ID}); c.Delta != nil || w.used() != 3 {
		t.Errorf("another token's gives %+v, %d are counted", c.Delta, w.used())
	}
	if c, _ := w.ask(token, resume.Ask{Since: "acr_none"}); c.Delta != nil || w.used() != 4 {
		t.Errorf("nobody's gives %+v, %d are counted", c.Delta, w.used())
	}
	// A token with nothing left may ask whether it should care.
	w.refused(token, resume.Ask{}, hodl.HydrationsExhausted)
	w.ask(token, resume.Ask{Since: second.ID})
	w.put("ses_1", "another")
	w.refused(token, resume.Ask{Since: second.ID}, hodl.HydrationsExhausted)
}

func TestUnchangedIsSlowedDown(t *testing.T) {
	w := newWorld(t)
	token := w.mint(1)
	_, first := w.ask(token, resume.Ask{})
	const most = 200
	if n := until(most, func() error {
		_, err := w.Hydrate(t.Context(), w.call(token, ""), resume.Ask{Format: render.JSON, Since: first.ID})
		return err
	}); n < 20 || n == most {
		t.Errorf("it may be asked %d times at once", n)
	}
}

// What a delta leaves out is the rest of the delta.
func TestContinueDelta(t *testing.T) {
	w := newWorld(t)
	token := w.mint(5)
	_, first := w.ask(token, resume.Ask{})
	w.putLarge("the cache bug")
	c, _ := w.ask(token, resume.Ask{Since: first.ID, MaxTokens: 2000})
	if c.Delta == nil || len(c.Omitted) == 0 {
		t.Fatalf("%+v", c)
	}
	rest, _ := w.ask(token, resume.Ask{Include: handles(c)})
	if rest.Delta == nil || len(c.Tabs)+len(rest.Tabs) != 40 || len(rest.Omitted) != 0 {
		t.Errorf("%d and %d tabs", len(c.Tabs), len(rest.Tabs))
	}
}
