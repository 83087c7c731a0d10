package httpapi

import (
	"context"
	"fmt"
	"time"

	"hodl"
	"hodl/internal/auth"
	"hodl/internal/store"
)

type keyBody struct {
	ID         hodl.KeyID  `json:"id" doc:"The key's id"`
	Key        string      `json:"key,omitempty" doc:"The key itself, when it was just made; it is shown this once"`
	Name       string      `json:"name" doc:"What it is for"`
	Mode       hodl.Mode   `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
	LastFour   string      `json:"last_four" doc:"Its last four characters"`
	Scopes     []string    `json:"scopes" doc:"What it may do; * for everything, capture for a capture-only key"`
	Addresses  []string    `json:"addresses" doc:"Where it may be used from; empty for anywhere"`
	Origins    []string    `json:"origins" doc:"Web origins whose pages may use it; empty for none"`
	User       hodl.UserID `json:"user_id" doc:"Whose it is"`
	CreatedAt  time.Time   `json:"created_at" doc:"When it was made (RFC 3339, UTC)"`
	ExpiresAt  *time.Time  `json:"expires_at" doc:"When it ends; null for never"`
	LastUsedAt *time.Time  `json:"last_used_at" doc:"When it was last used, to the minute; null when never"`
	RevokedAt  *time.Time  `json:"revoked_at" doc:"When it was revoked; null while it is not"`
	ReplacedBy hodl.KeyID  `json:"replaced_by,omitempty" doc:"The key it was rotated to"`
}

func keyOf(k *hodl.APIKey) keyBody {
	b := keyBody{
		ID: k.ID, Name: k.Name, Mode: k.Mode, LastFour: k.LastFour, Scopes: k.Scopes, Origins: k.Origins, User: k.User, CreatedAt: k.CreatedAt,
		ExpiresAt: timeOrNull(k.ExpiresAt), LastUsedAt: timeOrNull(k.LastUsedAt), RevokedAt: timeOrNull(k.RevokedAt), ReplacedBy: k.ReplacedBy,
	}
	for _, p := range k.Addresses {
		b.Addresses = append(b.Addresses, p.String())
	}
	return b
}

type keyReply struct{ Body keyBody }

// KeyPath names a key.
type KeyPath struct {
	ID hodl.KeyID `path:"id" doc:"The key's id"`
}

func (s *server) keyCreate(ctx context.Context, in *struct{ Body hodl.KeyDraft }) (*keyReply, error) {
	p := principal(ctx)
	rights, err := in.Body.Rights(p.Rights(), s.Store.Now())
	if err != nil {
		return nil, err
	}
	key := auth.NewKey(rights.Mode)
	k := hodl.APIKey{
		ID: hodl.KeyID(s.Store.NewID("key")), Workspace: p.Workspace, User: p.User, Name: in.Body.Name,
		LastFour: auth.LastFour(key), CreatedAt: s.Store.Now(),
	}
	k.Grant(rights)
	return answer(ctx, func(nothing) *keyReply {
		out := &keyReply{keyOf(&k)}
		out.Body.Key = key
		return out
	})(done(s.Store.AddKey(ctx, k, auth.Digest(key))))
}

// manages reports whether a caller may change a key: one of their own, and a live
// one only with a live key.
func manages(p *hodl.Principal, k *hodl.APIKey) bool {
	return k.User == p.User && (p.Mode == hodl.Live || k.Mode == hodl.Sandbox)
}

// oversees reports whether a caller may see a key and end it: one they manage, and
// with an admin's key anybody's.
func oversees(p *hodl.Principal, k *hodl.APIKey) bool {
	return (k.User == p.User || p.Role == hodl.Admin) && (p.Mode == hodl.Live || k.Mode == hodl.Sandbox)
}

func noKey(id hodl.KeyID) error {
	return hodl.Errorf(hodl.NotFound, "no key %s", id).WithHint("check the id; list yours to see what there is")
}

// KeyQuery picks keys.
type KeyQuery struct {
	Paging
	Status store.KeyStatus `query:"status" enum:"active,expired,revoked" doc:"Only keys that stand so"`
	Mode   hodl.Mode       `query:"mode" enum:"live,sandbox" doc:"Only keys of this mode"`
	User   string          `query:"user" doc:"With an admin's key: a user id, or all; your own when absent"`
}

type keyListReply struct {
	Body struct {
		Keys []keyBody `json:"api_keys" doc:"A page of keys"`
		Next *string   `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) keyList(ctx context.Context, in *KeyQuery) (*keyListReply, error) {
	p, f := principal(ctx), store.KeyFilter{Mode: in.Mode, Status: in.Status}
	var err error
	if f.Page, err = in.byID(); err != nil {
		return nil, err
	}
	if f.User, err = whose(p, in.User); err != nil {
		return nil, err
	}
	out := &keyListReply{}
	if p.Mode == hodl.Sandbox && in.Mode == hodl.Live {
		return out, nil // a sandbox key sees no live one
	}
	if p.Mode == hodl.Sandbox {
		f.Mode = hodl.Sandbox
	}
	list, err := s.Store.Keys(ctx, p.Workspace, f)
	for _, k := range list {
		out.Body.Keys = append(out.Body.Keys, keyOf(k))
	}
	out.Body.Next = more(list, f.Limit, func(k *hodl.APIKey) string { return encodeCursor(string(k.ID)) })
	return out, err
}

// whose returns the user a list is about: the caller, or with an admin's key
// whoever was asked for, "" for all.
func whose(p *hodl.Principal, user string) (hodl.UserID, error) {
	switch {
	case user == "" || hodl.UserID(user) == p.User:
		return p.User, nil
	case p.Role != hodl.Admin:
		return "", hodl.Errorf(hodl.Forbidden, "only an admin sees what others did").WithHint("leave user out to see your own")
	case user == "all":
		return "", nil
	}
	return hodl.UserID(user), nil
}

func (s *server) keyGet(ctx context.Context, in *KeyPath) (*keyReply, error) {
	p := principal(ctx)
	k, err := s.Store.Key(ctx, p.Workspace, in.ID)
	if err == nil && !oversees(p, k) {
		err = noKey(in.ID)
	}
	if err != nil {
		return nil, err
	}
	return &keyReply{keyOf(k)}, nil
}

func (s *server) keyChange(ctx context.Context, in *struct {
	KeyPath
	Body hodl.KeyChange
},
) (*keyReply, error) {
	p := principal(ctx)
	return s.changeKey(ctx, in.ID, func(k *hodl.APIKey, out *keyBody) (*store.NewKey, error) {
		if !manages(p, k) {
			return nil, noKey(in.ID)
		}
		err := in.Body.Apply(k, p.Rights(), s.Store.Now())
		*out = keyOf(k)
		return nil, err
	})
}

// changeKey lets change decide on a key and say what is answered.
func (s *server) changeKey(ctx context.Context, id hodl.KeyID, change func(*hodl.APIKey, *keyBody) (*store.NewKey, error)) (*keyReply, error) {
	out := &keyReply{}
	reply := answer(ctx, func(nothing) *keyReply { return out })
	err := s.Store.ChangeKey(ctx, principal(ctx).Workspace, id, func(k *hodl.APIKey) (*store.NewKey, error) { return change(k, &out.Body) })
	if err == nil {
		s.Keys.Forget()
	}
	return reply(done(err))
}

// How long a key goes on after it was rotated.
const (
	defaultOverlap = 24 * time.Hour
	maxOverlap     = 30 * 24 * time.Hour
)

func (s *server) keyRotate(ctx context.Context, in *struct {
	KeyPath
	Body *struct {
		Overlap *int `json:"overlap_seconds,omitempty" doc:"How long the old key goes on, 0 to 2,592,000 seconds; 86,400 when absent"`
	}
},
) (*keyReply, error) {
	overlap := defaultOverlap
	if in.Body != nil && in.Body.Overlap != nil {
		n := *in.Body.Overlap
		if n < 0 || n > int(maxOverlap.Seconds()) {
			return nil, hodl.Invalid("overlap_seconds", fmt.Sprintf("is %d; it must be from 0 to %d", n, int(maxOverlap.Seconds())))
		}
		overlap = time.Duration(n) * time.Second
	}
	p, now := principal(ctx), s.Store.Now()
	id := hodl.KeyID(s.Store.NewID("key"))
	return s.changeKey(ctx, in.ID, func(k *hodl.APIKey, out *keyBody) (*store.NewKey, error) {
		rights, mine := k.Rights(), p.Rights()
		if !manages(p, k) {
			return nil, noKey(in.ID)
		}
		if err := rights.Within(&mine); err != nil && k.ID != p.Key {
			return nil, err
		}
		key := auth.NewKey(k.Mode)
		next, err := k.Rotate(id, auth.LastFour(key), now, now.Add(overlap))
		if err != nil {
			return nil, err
		}
		*out = keyOf(next)
		out.Key = key
		return &store.NewKey{APIKey: *next, Digest: auth.Digest(key)}, nil
	})
}

func (s *server) keyRevoke(ctx context.Context, in *KeyPath) (*keyReply, error) {
	p, c, now := principal(ctx), caller(ctx), s.Store.Now()
	k := &keyBody{}
	reply := answer(ctx, func(nothing) *keyReply { return &keyReply{*k} })
	// To revoke twice is the same, so that of the two writes the second keeps the
	// answer: whoever repeats the request ends the key's tokens for certain.
	revoked, err := s.changeKey(store.WithOnce(ctx, nil), in.ID, func(k *hodl.APIKey, out *keyBody) (*store.NewKey, error) {
		if !oversees(p, k) {
			return nil, noKey(in.ID)
		}
		if k.RevokedAt.IsZero() {
			k.RevokedAt = now
		}
		*out = keyOf(k)
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	*k = revoked.Body
	return reply(done(s.Resume.EndKey(ctx, c, in.ID)))
}
