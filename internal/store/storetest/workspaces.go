package storetest

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

func testWorkspaces(t *testing.T, w *world) {
	ctx := t.Context()
	got, err := w.WorkspaceNamed(ctx, "acme")
	must(t, err)
	equal(t, "id by name", got.ID, w.ws)
	equal(t, "plan", got.Plan, hodl.Enterprise)
	must(t, w.SetPlan(ctx, w.ws, hodl.Developer))
	got, err = w.Workspace(ctx, w.ws)
	must(t, err)
	equal(t, "plan after the change", got.Plan, hodl.Developer)
	must(t, w.Ping(ctx))

	_, err = w.WorkspaceNamed(ctx, "nobody")
	refused(t, "unknown name", err, hodl.NotFound)
	_, err = w.Workspace(ctx, "wks_none")
	refused(t, "unknown id", err, hodl.NotFound)
	refused(t, "plan of an unknown workspace", w.SetPlan(ctx, "wks_none", hodl.Scale), hodl.NotFound)
	twice := hodl.Workspace{ID: hodl.WorkspaceID(w.NewID("wks")), Name: "acme", Plan: hodl.Scale, CreatedAt: w.Now()}
	refused(t, "a name that is taken", w.CreateWorkspace(ctx, twice, "usr_x"), hodl.Conflict)
	equal(t, "rows of the workspace that was refused", one[int](t, w, `select count(*) from data_keys where workspace = $1`, twice.ID), 0)
}

func testMembers(t *testing.T, w *world) {
	ctx := t.Context()
	admin, err := w.FirstAdmin(ctx, w.ws)
	must(t, err)
	equal(t, "first admin", admin, w.user)
	refused(t, "a member who is there", w.AddMember(ctx, w.ws, w.user, "again", hodl.Member), hodl.Conflict)
	must(t, w.AddMember(ctx, w.ws, "usr_2", "two", hodl.Admin))
	admin, err = w.FirstAdmin(ctx, w.ws)
	must(t, err)
	equal(t, "first admin of two", admin, w.user)
	_, err = w.FirstAdmin(ctx, "wks_none")
	refused(t, "admin of an unknown workspace", err, hodl.NotFound)
}

func (w *world) addKey(t *testing.T, secret string) hodl.APIKey {
	t.Helper()
	k := hodl.APIKey{
		ID: hodl.KeyID(w.NewID("key")), Workspace: w.ws, User: w.user, Mode: hodl.Live, Name: "laptop",
		LastFour: "abcd", Scopes: []string{"hodls:write", "sessions:read"}, CreatedAt: w.Now(),
	}
	must(t, w.AddKey(t.Context(), k, sha256.Sum256([]byte(secret))))
	return k
}

func testKeys(t *testing.T, w *world) {
	ctx := t.Context()
	first, second := w.addKey(t, "one"), w.addKey(t, "two")
	got, err := w.Key(ctx, w.ws, first.ID)
	must(t, err)
	equal(t, "key", *got, first)
	refused(t, "a digest that is there", w.AddKey(ctx, hodl.APIKey{ID: "key_x", Workspace: w.ws, User: w.user, Mode: hodl.Live}, sha256.Sum256([]byte("one"))), hodl.Conflict)

	list := func(user hodl.UserID, p store.Page) (ids []hodl.KeyID) {
		keys, err := w.Keys(ctx, w.ws, store.KeyFilter{User: user, Page: p})
		must(t, err)
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
		return ids
	}
	equal(t, "keys", list("", store.Page{Limit: 10}), []hodl.KeyID{second.ID, first.ID})
	equal(t, "second page", list(w.user, store.Page{Limit: 10, BeforeID: string(second.ID)}), []hodl.KeyID{first.ID})
	equal(t, "another's keys", list("usr_none", store.Page{Limit: 10}), nil)

	w.revokeKey(t, first.ID)
	got, err = w.Key(ctx, w.ws, first.ID)
	must(t, err)
	if got.RevokedAt.IsZero() {
		t.Error("the key was not revoked")
	}
	other, _ := w.workspace(t, "other", hodl.Scale)
	_, err = w.Key(ctx, other, first.ID)
	refused(t, "key of another workspace", err, hodl.NotFound)
}

func testPrincipal(t *testing.T, w *world) {
	ctx := t.Context()
	k := w.addKey(t, "one")
	digest := sha256.Sum256([]byte("one"))
	got, err := w.Principal(ctx, digest)
	must(t, err)
	equal(t, "principal", *got, hodl.Principal{
		Workspace: w.ws, User: w.user, Key: k.ID, Mode: hodl.Live, Role: hodl.Admin, Plan: hodl.Enterprise, Scopes: k.Scopes,
	})
	must(t, w.SetPlan(ctx, w.ws, hodl.Scale))
	got, err = w.Principal(ctx, digest)
	must(t, err)
	equal(t, "plan follows the workspace", got.Plan, hodl.Scale)
	_, err = w.Principal(ctx, sha256.Sum256([]byte("two")))
	refused(t, "unknown digest", err, hodl.NotFound)
	w.revokeKey(t, k.ID)
	_, err = w.Principal(ctx, digest)
	refused(t, "revoked key", err, hodl.NotFound)

	must(t, w.Close()) // waits for what runs in the background
	if used := one[int64](t, w, `select last_used_at from api_keys where id = $1`, k.ID); used == 0 {
		t.Error("the last use of the key was not written down")
	}
}

func testSigningKeys(t *testing.T, w *world) {
	ctx := t.Context()
	_, _, err := w.Install(ctx, store.Installation{Issuer: "https://a.example", LogOrigin: "a.example/log"})
	must(t, err)
	old := store.SigningKey{KID: "k1", Public: []byte("public"), Seed: []byte("seed one"), CreatedAt: w.Now(), SignsFrom: w.Now()}
	rotate := func(c store.KeyChange) {
		t.Helper()
		must(t, w.RotateSigningKeys(ctx, func([]store.SigningKey) (store.KeyChange, error) { return c, nil }))
	}
	list := func() []store.SigningKey {
		t.Helper()
		keys, err := w.SigningKeys(ctx)
		must(t, err)
		return keys
	}
	rotate(store.KeyChange{Add: &old})
	next := store.SigningKey{KID: "k2", Public: []byte("public 2"), Seed: []byte("seed two"), CreatedAt: w.Now(), SignsFrom: w.Now()}
	old.SignsUntil, old.ServedUntil = w.Now(), w.Now().Add(time.Hour)
	rotate(store.KeyChange{Add: &next, Update: []store.SigningKey{old}})
	equal(t, "keys", list(), []store.SigningKey{old, next})
	sealed := one[[]byte](t, w, `select seed from signing_keys where kid = $1`, "k1")
	if bytes.Contains(sealed, old.Seed) {
		t.Error("the seed is not sealed")
	}
	err = w.RotateSigningKeys(ctx, func(keys []store.SigningKey) (store.KeyChange, error) {
		equal(t, "keys the plan sees", len(keys), 2)
		return store.KeyChange{Delete: []string{"k1"}}, hodl.Errorf(hodl.Conflict, "not now")
	})
	refused(t, "a plan that refuses", err, hodl.Conflict)
	equal(t, "keys after a refusal", list(), []store.SigningKey{old, next})
	rotate(store.KeyChange{Delete: []string{"k1"}})
	equal(t, "keys after the last change", list(), []store.SigningKey{next})
}

func testInstallation(t *testing.T, w *world) {
	ctx := t.Context()
	want := store.Installation{Issuer: "https://a.example", LogOrigin: "a.example/log"}
	got, first, err := w.Install(ctx, want)
	must(t, err)
	equal(t, "first", first, true)
	equal(t, "issuer", got.Issuer, want.Issuer)
	again, first, err := w.Install(ctx, store.Installation{Issuer: "https://b.example", LogOrigin: "b"})
	must(t, err)
	equal(t, "first, the second time", first, false)
	equal(t, "installation, the second time", again, got)
}
