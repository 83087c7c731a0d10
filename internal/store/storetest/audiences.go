package storetest

import (
	"net/netip"
	"strings"
	"testing"

	"hodl"
	"hodl/internal/store"
)

// audience is one with everything in it.
func (w *world) audience(t testing.TB, name string) *hodl.Audience {
	t.Helper()
	// The key is RFC 8037's, appendix A.2.
	a, err := hodl.NewAudience(hodl.AudienceDraft{
		Name: name, Description: "an agent", Addresses: []string{"192.0.2.0/24", "2001:db8::7"},
		JWK: map[string]any{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
	}, "https://hodl.example.com/mcp")
	must(t, err)
	a.ID, a.CreatedAt = hodl.AudienceID(w.NewID("aud")), w.Now()
	a.UpdatedAt = a.CreatedAt
	return a
}

func testAudiences(t *testing.T, w *world) {
	ctx := t.Context()
	first, second := w.audience(t, "one.example.com"), w.audience(t, "claude.anthropic.com")
	must(t, w.AddAudience(ctx, w.ws, hodl.Live, first))
	must(t, w.AddAudience(ctx, w.ws, hodl.Live, second))
	same := w.audience(t, "one.example.com")
	refused(t, "a name that is taken", w.AddAudience(ctx, w.ws, hodl.Live, same), hodl.Conflict)
	must(t, w.AddAudience(ctx, w.ws, hodl.Sandbox, same))

	got, err := w.Audience(ctx, w.ws, hodl.Live, first.ID)
	must(t, err)
	equal(t, "jkt", got.JKT, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
	equal(t, "addresses", join(got.Addresses), "192.0.2.0/24 2001:db8::7/128")
	equal(t, "name", got.Name, first.Name)
	equal(t, "made at", got.CreatedAt, first.CreatedAt)
	got, err = w.AudienceNamed(ctx, w.ws, hodl.Live, "claude.anthropic.com")
	must(t, err)
	equal(t, "by name", got.ID, second.ID)
	equal(t, "builtin", got.Builtin, true)

	names := func(m hodl.Mode, p store.Page) (out []string) {
		list, err := w.Audiences(ctx, w.ws, m, p)
		must(t, err)
		for _, a := range list {
			out = append(out, a.Name)
		}
		return out
	}
	equal(t, "list", names(hodl.Live, store.Page{Limit: 9}), []string{second.Name, first.Name})
	equal(t, "second page", names(hodl.Live, store.Page{Limit: 1, BeforeID: string(second.ID)}), []string{first.Name})
	equal(t, "of the sandbox", names(hodl.Sandbox, store.Page{Limit: 9}), []string{first.Name})
	registered, err := w.RegisteredNames(ctx, w.ws, hodl.Live, hodl.Audiences)
	must(t, err)
	equal(t, "registered built-in names", registered, []string{"claude.anthropic.com"})
}

func testChangeAudience(t *testing.T, w *world) {
	ctx := t.Context()
	a := w.audience(t, "one.example.com")
	must(t, w.AddAudience(ctx, w.ws, hodl.Live, a))
	none := []string{}
	got, err := w.ChangeAudience(ctx, w.ws, hodl.Live, a.ID, func(x *hodl.Audience) error {
		return x.Change(hodl.AudienceChange{Addresses: &none, JWK: &map[string]any{}})
	})
	must(t, err)
	if got.JWK != nil || len(got.Addresses) != 0 || got.Description != "an agent" {
		t.Errorf("it became %+v", got)
	}
	_, err = w.ChangeAudience(ctx, w.ws, hodl.Live, a.ID, func(*hodl.Audience) error { return hodl.Invalid("jwk", "is bad") })
	refused(t, "a change that is refused", err, hodl.ValidationFailed)

	// Each change sees the one before.
	counts := together(20, func(i int) error {
		_, err := w.ChangeAudience(ctx, w.ws, hodl.Live, a.ID, func(x *hodl.Audience) error { x.Description += "."; return nil })
		return err
	})
	equal(t, "changes at once", counts, map[hodl.Code]int{"": 20})
	got, err = w.Audience(ctx, w.ws, hodl.Live, a.ID)
	must(t, err)
	equal(t, "description", got.Description, "an agent"+strings.Repeat(".", 20))

	other, _ := w.workspace(t, "rival", hodl.Enterprise)
	for _, p := range []struct {
		ws hodl.WorkspaceID
		m  hodl.Mode
	}{{other, hodl.Live}, {w.ws, hodl.Sandbox}} {
		_, err = w.Audience(ctx, p.ws, p.m, a.ID)
		refused(t, "another's audience", err, hodl.NotFound)
		_, err = w.AudienceNamed(ctx, p.ws, p.m, a.Name)
		refused(t, "another's audience by name", err, hodl.NotFound)
		_, err = w.ChangeAudience(ctx, p.ws, p.m, a.ID, func(*hodl.Audience) error { return nil })
		refused(t, "change another's", err, hodl.NotFound)
		_, err = w.DeleteAudience(ctx, p.ws, p.m, a.ID)
		refused(t, "delete another's", err, hodl.NotFound)
	}
	got, err = w.DeleteAudience(ctx, w.ws, hodl.Live, a.ID)
	must(t, err)
	equal(t, "what was deleted", got.Name, a.Name)
	_, err = w.DeleteAudience(ctx, w.ws, hodl.Live, a.ID)
	refused(t, "delete it again", err, hodl.NotFound)
}

func join(list []netip.Prefix) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return strings.Join(out, " ")
}
