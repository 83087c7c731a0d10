package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"hodl"
	"hodl/internal/store"
)

// putPolicy makes the next version of a policy.
func (w *world) putPolicy(t testing.TB, m hodl.Mode, name string, d hodl.PolicyDocument) *hodl.Policy {
	t.Helper()
	p, err := w.ChangePolicy(t.Context(), w.ws, m, name, "key_1", func(*hodl.Policy) (*hodl.PolicyDocument, error) { return &d, nil })
	must(t, err)
	return p
}

func words(list ...string) hodl.PolicyDocument {
	return hodl.PolicyDocument{Dictionaries: []hodl.Dictionary{{ID: "customers", Type: "CUSTOMER", Words: list}}}
}

func testPolicies(t *testing.T, w *world) {
	ctx := t.Context()
	state, err := w.PolicyState(ctx, w.ws, hodl.Live)
	must(t, err)
	equal(t, "of a new workspace", state, store.PolicyState{Current: hodl.DefaultPolicy})

	first := w.putPolicy(t, hodl.Live, "ours", words("one"))
	second := w.putPolicy(t, hodl.Live, "ours", words("two"))
	other := w.putPolicy(t, hodl.Live, "other", hodl.PolicyDocument{})
	equal(t, "versions", fmt.Sprint(first.Version, second.Version, other.Version), "1 2 1")
	again, err := w.ChangePolicy(ctx, w.ws, hodl.Live, "ours", "key_1", func(last *hodl.Policy) (*hodl.PolicyDocument, error) {
		equal(t, "the last version", last, second)
		return nil, nil
	})
	must(t, err)
	equal(t, "left as it is", again, second)

	got, err := w.Policy(ctx, w.ws, hodl.Live, "ours", 0)
	must(t, err)
	equal(t, "last", got, second)
	got, err = w.Policy(ctx, w.ws, hodl.Live, "ours", 1)
	must(t, err)
	equal(t, "first", got, first)
	for name, version := range map[string]int{"ours": 3, "theirs": 0} {
		_, err := w.Policy(ctx, w.ws, hodl.Live, name, version)
		refused(t, name, err, hodl.NotFound)
	}
	list, err := w.Policies(ctx, w.ws, hodl.Live, store.Page{Limit: 9})
	must(t, err)
	equal(t, "list", list, []*hodl.Policy{other, second})
	list, err = w.PolicyVersions(ctx, w.ws, hodl.Live, "ours", 0, 9)
	must(t, err)
	equal(t, "history", list, []*hodl.Policy{second, first})
	list, err = w.PolicyVersions(ctx, w.ws, hodl.Live, "ours", 2, 9)
	must(t, err)
	equal(t, "second page of the history", list, []*hodl.Policy{first})

	sandbox, err := w.Policies(ctx, w.ws, hodl.Sandbox, store.Page{Limit: 9})
	must(t, err)
	equal(t, "of the sandbox", len(sandbox), 0)
	strangers, _ := w.workspace(t, "strangers", hodl.Enterprise)
	_, err = w.Policy(ctx, strangers, hodl.Live, "ours", 0)
	refused(t, "another workspace's", err, hodl.NotFound)
}

// What stands at the head of the log is what a hydration is admitted under, from
// the moment a change is answered.
func testPolicyInForce(t *testing.T, w *world) {
	ctx := t.Context()
	k := w.mint(t, w.session(t, "word").ID, 5)
	use := w.use(k)
	inForce := func() store.PolicyState {
		t.Helper()
		a, err := w.Admission(ctx, use)
		must(t, err)
		var locked store.PolicyState
		stop := fmt.Errorf("only looking")
		err = w.Hydrate(ctx, use, func(a store.Admission) error { locked = a.Session.Policy; return stop }, w.record(hodl.KindHydrate, k.Session, k.ID), detail)
		equal(t, "refusal", errors.Is(err, stop), true)
		equal(t, "read and locked", a.Session.Policy, locked)
		return locked
	}
	equal(t, "at first", inForce(), store.PolicyState{Current: hodl.DefaultPolicy})
	refused(t, "to use none", w.UsePolicy(ctx, w.ws, hodl.Live, "ours"), hodl.NotFound)
	w.putPolicy(t, hodl.Live, "ours", words("one"))
	equal(t, "after a new one", inForce(), store.PolicyState{Current: hodl.DefaultPolicy, Revision: 1})
	must(t, w.UsePolicy(ctx, w.ws, hodl.Live, "ours"))
	must(t, w.UsePolicy(ctx, w.ws, hodl.Live, "ours"))
	must(t, w.UsePolicy(ctx, w.ws, hodl.Sandbox, "off"))
	equal(t, "in use", inForce(), store.PolicyState{Current: "ours", Revision: 2})

	all, err := w.PoliciesNamed(ctx, w.ws, hodl.Live, "pci", "gone")
	must(t, err)
	equal(t, "state", all.PolicyState, store.PolicyState{Current: "ours", Revision: 2})
	equal(t, "by name", len(all.ByName), 1)
	equal(t, "current", all.ByName["ours"].Current, true)

	nothing := func(*hodl.Policy) error { return nil }
	refused(t, "to delete the current one", w.DeletePolicy(ctx, w.ws, hodl.Live, "ours", nothing), hodl.Conflict)
	must(t, w.UsePolicy(ctx, w.ws, hodl.Live, "balanced"))
	must(t, w.DeletePolicy(ctx, w.ws, hodl.Live, "ours", nothing))
	refused(t, "to delete it twice", w.DeletePolicy(ctx, w.ws, hodl.Live, "ours", nothing), hodl.NotFound)
	equal(t, "after the deletion", inForce(), store.PolicyState{Current: "balanced", Revision: 4})
	all, err = w.PoliciesNamed(ctx, w.ws, hodl.Live, "ours")
	must(t, err)
	equal(t, "deleted", len(all.ByName), 0)
	equal(t, "goes on", w.putPolicy(t, hodl.Live, "ours", words("two")).Version, 2)
}

// A document names customers and people: it lies sealed, and a deletion erases it.
func testPoliciesAreSealed(t *testing.T, w *world) {
	ctx := t.Context()
	w.putPolicy(t, hodl.Live, "ours", words("zanzibar"))
	w.putPolicy(t, hodl.Live, "ours", words("zanzibar", "other"))
	rows, err := w.raw(t).QueryContext(ctx, `select document from redaction_policies`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var document []byte
		must(t, rows.Scan(&document))
		if len(document) == 0 || bytes.Contains(document, []byte("zanzibar")) {
			t.Errorf("a document lies open: %q", document)
		}
	}
	must(t, rows.Err())
	must(t, w.DeletePolicy(ctx, w.ws, hodl.Live, "ours", func(*hodl.Policy) error { return nil }))
	var kept int
	must(t, w.raw(t).QueryRowContext(ctx, `select count(*) from redaction_policies where document is not null`).Scan(&kept))
	equal(t, "documents after the deletion", kept, 0)
}

// Two servers that change a policy at once make one version after the other.
func testPoliciesAtOnce(t *testing.T, w *world) {
	const changes = 8
	errs := make(chan error, changes)
	for i := range changes {
		go func() {
			_, err := w.at(i).ChangePolicy(t.Context(), w.ws, hodl.Live, "ours", "key_1", func(*hodl.Policy) (*hodl.PolicyDocument, error) {
				d := words(fmt.Sprint("word", i))
				return &d, nil
			})
			errs <- err
		}()
	}
	for range changes {
		must(t, <-errs)
	}
	list, err := w.PolicyVersions(t.Context(), w.ws, hodl.Live, "ours", 0, 99)
	must(t, err)
	for i, p := range list {
		equal(t, "version", p.Version, changes-i)
	}
	equal(t, "versions", len(list), changes)
}
