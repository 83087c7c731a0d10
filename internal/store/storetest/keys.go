package storetest

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

// What bounds a key is kept and found with it.
func testKeyRights(t *testing.T, w *world) {
	ctx := t.Context()
	digest := sha256.Sum256([]byte("bound"))
	k := hodl.APIKey{
		ID: "key_bound", Workspace: w.ws, User: w.user, Mode: hodl.Sandbox, Name: "bound", LastFour: "abcd", Scopes: []string{"keys:write"},
		Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")},
		Origins:   []string{"https://a.example", "http://localhost:3000"}, CreatedAt: w.Now(), ExpiresAt: w.Now().Add(time.Hour),
	}
	must(t, w.AddKey(ctx, k, digest))
	got, err := w.Key(ctx, w.ws, k.ID)
	must(t, err)
	equal(t, "key", keyText(got), keyText(&k))
	p, err := w.Principal(ctx, digest)
	must(t, err)
	equal(t, "rights of the principal", fmt.Sprint(p.Rights()), fmt.Sprint(k.Rights()))

	must(t, w.ChangeKey(ctx, w.ws, k.ID, func(k *hodl.APIKey) (*store.NewKey, error) {
		k.Name, k.Origins, k.Scopes = "renamed", nil, []string{"keys:read"}
		return nil, nil
	}))
	k.Name, k.Origins, k.Scopes = "renamed", nil, []string{"keys:read"}
	got, err = w.Key(ctx, w.ws, k.ID)
	must(t, err)
	equal(t, "key after a change", keyText(got), keyText(&k))
	refused(t, "a change that refuses", w.ChangeKey(ctx, w.ws, k.ID, func(k *hodl.APIKey) (*store.NewKey, error) {
		k.Name = "never"
		return nil, hodl.Errorf(hodl.Forbidden, "no")
	}), hodl.Forbidden)
	equal(t, "name after a refusal", one[string](t, w, `select name from api_keys where id = $1`, k.ID), "renamed")
	other, _ := w.workspace(t, "other", hodl.Scale)
	refused(t, "a key of another workspace", w.ChangeKey(ctx, other, k.ID, func(*hodl.APIKey) (*store.NewKey, error) {
		t.Error("it was found")
		return nil, nil
	}), hodl.NotFound)
}

// keyText is all of a key but when it was used, which is written in the background.
func keyText(k *hodl.APIKey) string {
	x := *k
	x.LastUsedAt = time.Time{}
	return fmt.Sprintf("%+v", x)
}

func testKeyFilters(t *testing.T, w *world) {
	ctx, now := t.Context(), w.Now()
	for id, k := range map[hodl.KeyID]hodl.APIKey{
		"key_a": {User: w.user, Mode: hodl.Live},
		"key_b": {User: w.user, Mode: hodl.Live, ExpiresAt: now.Add(-time.Hour)},
		"key_c": {User: w.user, Mode: hodl.Sandbox, ExpiresAt: now.Add(time.Hour)},
		"key_d": {User: w.member(t), Mode: hodl.Live},
	} {
		k.ID, k.Workspace, k.CreatedAt = id, w.ws, now
		must(t, w.AddKey(ctx, k, sha256.Sum256([]byte(id))))
	}
	w.revokeKey(t, "key_d")
	for want, f := range map[string]store.KeyFilter{
		"[key_d key_c key_b key_a]": {},
		"[key_c key_b key_a]":       {User: w.user},
		"[key_c]":                   {Mode: hodl.Sandbox},
		"[key_c key_a]":             {Status: store.KeyActive},
		"[key_b]":                   {Status: store.KeyExpired},
		"[key_d]":                   {Status: store.KeyRevoked},
		"[]":                        {User: w.user, Status: store.KeyRevoked},
	} {
		f.Limit = 10
		keys, err := w.Keys(ctx, w.ws, f)
		must(t, err)
		ids := []hodl.KeyID{}
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
		equal(t, fmt.Sprintf("keys by %+v", f), fmt.Sprint(ids), want)
	}
}

// However many rotate a key at once, one successor lives as long as the key did and
// the others no longer than it goes on.
func testRotations(t *testing.T, w *world) {
	const n = 24
	ctx := t.Context()
	k := w.addKey(t, "rotated")
	until := w.Now().Add(time.Hour)
	codes := together(n, func(i int) error {
		id := hodl.KeyID(fmt.Sprintf("key_%02d", i))
		return w.at(i).ChangeKey(ctx, w.ws, k.ID, func(k *hodl.APIKey) (*store.NewKey, error) {
			next, err := k.Rotate(id, "next", w.Now(), until)
			if err != nil {
				return nil, err
			}
			return &store.NewKey{APIKey: *next, Digest: sha256.Sum256([]byte(id))}, nil
		})
	})
	equal(t, "rotations", codes, map[hodl.Code]int{"": n})
	keys, err := w.Keys(ctx, w.ws, store.KeyFilter{Page: store.Page{Limit: 100}})
	must(t, err)
	equal(t, "keys", len(keys), n+1)
	forever := slices.DeleteFunc(keys, func(k *hodl.APIKey) bool { return k.ExpiresAt.Equal(until) })
	equal(t, "keys without an end", len(forever), 1)
	equal(t, "scopes of the successor", forever[0].Scopes, k.Scopes)
}

func (w *world) revokeKey(t *testing.T, id hodl.KeyID) {
	t.Helper()
	must(t, w.ChangeKey(t.Context(), w.ws, id, func(k *hodl.APIKey) (*store.NewKey, error) {
		k.RevokedAt = w.Now()
		return nil, nil
	}))
}
