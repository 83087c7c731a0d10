package storetest

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

func testMemberships(t *testing.T, w *world) {
	ctx := t.Context()
	two := w.member(t)
	other, _ := w.workspace(t, "other", hodl.Scale)
	must(t, w.AddMember(ctx, other, two, "Two", hodl.Admin))
	list, err := w.Members(ctx, w.ws, store.Page{Limit: 10})
	must(t, err)
	equal(t, "members", []hodl.UserID{list[0].User, list[1].User}, []hodl.UserID{two, w.user})
	list, err = w.Members(ctx, w.ws, store.Page{Limit: 10, BeforeID: string(two)})
	must(t, err)
	equal(t, "second page", len(list), 1)
	_, err = w.Member(ctx, other, w.user)
	refused(t, "a member of another workspace", err, hodl.NotFound)

	where := func(user hodl.UserID) (out []hodl.WorkspaceID) {
		t.Helper()
		list, err := w.Memberships(ctx, user)
		must(t, err)
		for _, m := range list {
			out = append(out, m.Workspace)
		}
		return out
	}
	equal(t, "workspaces of one in two", where(two), []hodl.WorkspaceID{other, w.ws})
	equal(t, "workspaces of one in one", where(w.user), []hodl.WorkspaceID{w.ws})
	equal(t, "workspaces of nobody", where("usr_none"), nil)

	remove := func(m *hodl.Membership) error { m.RemovedAt = w.Now(); return nil }
	_, err = w.ChangeMember(ctx, w.ws, two, remove)
	must(t, err)
	equal(t, "workspaces after a removal", where(two), []hodl.WorkspaceID{other})
	list, err = w.Members(ctx, w.ws, store.Page{Limit: 10})
	must(t, err)
	equal(t, "members after a removal", len(list), 1)
	must(t, w.AddMember(ctx, w.ws, two, "Two again", hodl.Member))
	equal(t, "workspaces after coming back", where(two), []hodl.WorkspaceID{other, w.ws})
}

// The keys of a member who is removed open nothing, and their role is that of now.
func testMemberKeys(t *testing.T, w *world) {
	ctx, two := t.Context(), hodl.UserID(w.NewID("usr"))
	digest := sha256.Sum256([]byte("invitation"))
	k := hodl.APIKey{ID: "key_i", Workspace: w.ws, User: two, Mode: hodl.Live, Scopes: []string{hodl.Joining}, CreatedAt: w.Now()}
	m := hodl.Membership{Workspace: w.ws, User: two, Name: "Two", Role: hodl.Member, CreatedAt: w.Now()}
	must(t, w.Invite(ctx, m, &store.NewKey{APIKey: k, Digest: digest}))
	role := func(r hodl.Role) {
		t.Helper()
		p, err := w.Principal(ctx, digest)
		must(t, err)
		equal(t, "role", p.Role, r)
	}
	role(hodl.Member)
	_, err := w.ChangeMember(ctx, w.ws, two, func(m *hodl.Membership) error { m.Role = hodl.Admin; return nil })
	must(t, err)
	role(hodl.Admin)
	_, err = w.ChangeMember(ctx, w.ws, two, func(m *hodl.Membership) error { m.RemovedAt = w.Now(); return nil })
	must(t, err)
	_, err = w.Principal(ctx, digest)
	refused(t, "the key of one who was removed", err, hodl.NotFound)
	refused(t, "an invitation that is there", w.Invite(ctx, hodl.Membership{Workspace: w.ws, User: w.user}, nil), hodl.Conflict)
	_, err = w.ChangeMember(ctx, w.ws, "usr_none", func(*hodl.Membership) error { return nil })
	refused(t, "nobody", err, hodl.NotFound)
}

// However many admins step down or throw each other out at once, one is left.
func testLastAdmin(t *testing.T, w *world) {
	const n = 12
	ctx, admins := t.Context(), []hodl.UserID{w.user}
	for i := range n - 1 {
		user := hodl.UserID(fmt.Sprintf("usr_%d", i))
		must(t, w.AddMember(ctx, w.ws, user, "", hodl.Admin))
		admins = append(admins, user)
	}
	codes := together(n, func(i int) error {
		_, err := w.at(i).ChangeMember(ctx, w.ws, admins[i], func(m *hodl.Membership) error {
			if i%2 == 0 {
				m.RemovedAt = w.Now()
			} else {
				m.Role = hodl.Member
			}
			return nil
		})
		return err
	})
	equal(t, "codes", codes, map[hodl.Code]int{"": n - 1, hodl.Conflict: 1})
	equal(t, "admins left", one[int](t, w, `select count(*) from members where workspace = $1 and role = 'admin' and removed_at = 0`, w.ws), 1)
}

func testFound(t *testing.T, w *world) {
	ctx, id := t.Context(), hodl.WorkspaceID(w.NewID("wks"))
	x := hodl.Workspace{ID: id, Name: string(id), Label: "acme", Plan: hodl.Scale, CreatedAt: w.Now()}
	k := hodl.APIKey{ID: "key_f", Workspace: id, User: w.user, Mode: hodl.Live, Scopes: []string{"*"}, CreatedAt: w.Now()}
	digest := sha256.Sum256([]byte("first"))
	must(t, w.Found(ctx, x, w.user, &store.NewKey{APIKey: k, Digest: digest}))
	p, err := w.Principal(ctx, digest)
	must(t, err)
	equal(t, "who founded it", []string{string(p.Workspace), string(p.User), string(p.Role)}, []string{string(id), string(w.user), "admin"})
	got, err := w.Workspace(ctx, id)
	must(t, err)
	equal(t, "called like another", got.Called(), "acme")
	rename := func(w *hodl.Workspace) error { w.Label, w.Limits.Hourly = "new", 7; return nil }
	changed, err := w.ChangeWorkspace(ctx, id, rename)
	must(t, err)
	got, err = w.WorkspaceNamed(ctx, string(id))
	must(t, err)
	equal(t, "the workspace after a change", got, changed)
	equal(t, "called", got.Called(), "new")
	_, err = w.ChangeWorkspace(ctx, "wks_none", rename)
	refused(t, "a workspace that is not there", err, hodl.NotFound)
	_, err = w.ChangeWorkspace(ctx, id, func(w *hodl.Workspace) error { w.Limits.TTL = 0; return nil })
	refused(t, "a limit of nothing", err, hodl.ValidationFailed)
}

// Records and counts of everybody's, for admins.
func testEverybodys(t *testing.T, w *world) {
	ctx, two := t.Context(), w.member(t)
	session := w.session(t, "everybody")
	token := w.mint(t, session.ID, 10)
	for range 3 {
		must(t, w.hydrate(ctx, w.Store, token))
	}
	rec := w.record(hodl.KindDenied, "", "")
	rec.User = two
	must(t, w.Append(ctx, rec, detail))
	seqs := func(f store.RecordFilter) (out []int64) {
		list, err := w.Records(ctx, w.ws, hodl.Live, f)
		must(t, err)
		for _, r := range list {
			out = append(out, r.Seq)
		}
		return out
	}
	equal(t, "everybody's", seqs(store.RecordFilter{Page: store.Page{Limit: 3}}), []int64{4, 3, 2})
	equal(t, "second page", seqs(store.RecordFilter{Page: store.Page{Limit: 3}, BeforeSeq: 2}), []int64{1, 0})
	equal(t, "one's", seqs(store.RecordFilter{User: two, Page: store.Page{Limit: 3}}), []int64{4})
	_, err := w.Record(ctx, w.ws, hodl.Live, "", rec.ID)
	must(t, err)
	_, err = w.Record(ctx, w.ws, hodl.Live, w.user, rec.ID)
	refused(t, "another's record", err, hodl.NotFound)

	used, err := w.UsedByMember(ctx, w.ws, hodl.Live, start.Add(-time.Hour))
	must(t, err)
	equal(t, "used by member", used, []store.MemberUsage{{User: w.user, Hydrations: 3}, {User: two, Name: "Member"}})
	used, err = w.UsedByMember(ctx, w.ws, hodl.Sandbox, start.Add(-time.Hour))
	must(t, err)
	equal(t, "used in the sandbox", used[0].Hydrations, 0)
	used, err = w.UsedByMember(ctx, w.ws, hodl.Live, w.Now())
	must(t, err)
	equal(t, "used since now", used[0].Hydrations, 0)
}
