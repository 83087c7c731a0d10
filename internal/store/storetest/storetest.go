// Package storetest is what every engine of the store must do: one suite, run by
// the store's own tests on SQLite and on PostgreSQL.
package storetest

import (
	"context"
	"database/sql"
	"testing"

	"hodl/internal/store"
)

// A Database is an empty database and the two ways into it.
type Database struct {
	// Options opens a store on it, any number of times. The suite sets the clock.
	Options store.Options
	// Raw sees every row of every workspace, past the store and past row-level
	// security.
	Raw *sql.DB
	// Files lists the files the data lies in, if this process can read them.
	Files func() []string
}

// Run runs the suite. create makes a database that ends with the test.
func Run(t *testing.T, create func(t testing.TB) Database) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, w *world)
	}{
		{"workspaces", testWorkspaces},
		{"members", testMembers},
		{"keys", testKeys},
		{"principal", testPrincipal},
		{"rights of keys", testKeyRights},
		{"memberships", testMemberships},
		{"keys of members", testMemberKeys},
		{"two stores: the last admin", onTwo(testLastAdmin)},
		{"found a workspace", testFound},
		{"records of everybody", testEverybodys},
		{"key filters", testKeyFilters},
		{"two stores: key rotation", onTwo(testRotations)},
		{"signing keys", testSigningKeys},
		{"installation", testInstallation},
		{"hodl", testHodl},
		{"hodl pages", testHodlPages},
		{"hodls of a session", testSessionHodls},
		{"hodl refusals", testHodlRefusals},
		{"hodl with its session", testHodlWithSession},
		{"many hodls at once", testPutHodls},
		{"restore a hodl", testRestoreHodl},
		{"purge hodls", testPurgeHodls},
		{"index hodls that were there before", testIndexHodls},
		{"tags", testTags},
		{"known hodls", testKnownHodls},
		{"search", testSearch},
		{"search pages", testSearchPages},
		{"search behind many", testSearchDeep},
		{"search is for one's own", testSearchOthers},
		{"session", testSession},
		{"session pages", testSessionPages},
		{"session refusals", testSessionRefusals},
		{"session versions", testVersions},
		{"session transitions", testTransitions},
		{"session not yours", testNotYours},
		{"delete session", testDeleteSession},
		{"capture again after delete", testCaptureAgain},
		{"mint, list, revoke", testTokens},
		{"token refusals", testTokenRefusals},
		{"archive ends tokens", testArchiveEndsTokens},
		{"exchange", testExchange},
		{"exchange refusals", testExchangeRefusals},
		{"revocation cascades", testRevocationCascades},
		{"revoke all", testRevokeAll},
		{"limits", testLimits},
		{"hydrate", testHydrate},
		{"hydrate by key", testHydrateByKey},
		{"hydrate refusals", testHydrateRefusals},
		{"typed write", testTypedWrite},
		{"admission", testAdmission},
		{"read", testRead},
		{"audiences", testAudiences},
		{"change audience", testChangeAudience},
		{"proofs", testProofs},
		{"replays", testReplays},
		{"two stores: replays", onTwo(testReplays)},
		{"policies", testPolicies},
		{"two stores: policy in force", onTwo(testPolicyInForce)},
		{"policies are sealed", testPoliciesAreSealed},
		{"two stores: policies at once", onTwo(testPoliciesAtOnce)},
		{"records", testRecords},
		{"record filters", testRecordFilters},
		{"records are canonical", testCanonical},
		{"records are immutable", testImmutable},
		{"logs are gapless over mixed kinds", testMixedLog},
		{"log", testLog},
		{"places", testPlaces},
		{"log: made later", testLogMadeLater},
		{"log: tampered with", testLogTampered},
		{"log: append-only", testLogAppendOnly},
		{"log: erase a person", testEraseUser},
		{"server log", testServerLog},
		{"server log: at once", testServerLogAtOnce},
		{"server log: blind", testServerLogBlind},
		{"two stores: server log", onTwo(testServerLog)},
		{"two stores: server log, at once", onTwo(testServerLogAtOnce)},
		{"two stores: log", onTwo(testLog)},
		{"two stores: places", onTwo(testPlaces)},
		{"events", testEvents},
		{"content is sealed", testSealed},
		{"once", testOnce},
		{"once: refused", testOnceRefused},
		{"once: rare writes", testOnceChange},
		{"once: nothing to write", testOnceKeep},
		{"once: misused", testOnceMisused},
		{"once: items", testOnceItems},
		{"once: at once", testOnceAtOnce},
		{"once: in one batch", testOnceInOneBatch},
		{"once: sealed", testOnceSealed},
		{"once: forgotten", testForgetAnswers},
		{"two stores: once, at once", onTwo(testOnceAtOnce)},
		{"two stores: once, in one batch", onTwo(testOnceInOneBatch)},
		{"exact cap", testExactCap},
		{"exact quota", testExactQuota},
		{"two stores: exact cap", onTwo(testExactCap)},
		{"two stores: exact quota", onTwo(testExactQuota)},
		{"exact cap of a lineage", testExactLineage},
		{"exact cap of an hour", testExactHour},
		{"two stores: exact cap of a lineage", onTwo(testExactLineage)},
		{"two stores: exact cap of an hour", onTwo(testExactHour)},
		{"two stores: exchange refusals", onTwo(testExchangeRefusals)},
		{"two stores: revocation cascades", onTwo(testRevocationCascades)},
		{"two stores: revoked mid-flight", onTwo(testRevokedMidFlight)},
		{"two stores: revoke all", onTwo(testRevokeAll)},
		{"two stores: revoke all amid writes", onTwo(testRevokeAllAmidWrites)},
		{"two stores: one id", onTwo(testOneID)},
		{"two stores: everything at once", onTwo(testEverythingAtOnce)},
		{"two stores: revocation", onTwo(testRevocationSeen)},
		{"two stores: what is remembered", onTwo(testRemembered)},
		{"canceled caller", testCanceled},
		{"rotation of a data key", testRotation},
		{"rotation goes on where it stopped", testRotationResumes},
		{"rotation of what is spoilt", testRotationOfSpoilt},
		{"two stores: rotation of a data key", onTwo(testRotation)},
		{"two stores: rotation under load", onTwo(testRotationUnderLoad)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, newWorld(t, create(t)))
		})
	}
	t.Run("open twice", func(t *testing.T) { t.Parallel(); testOpenTwice(t, create(t)) })
	t.Run("rotation of the master key", func(t *testing.T) { t.Parallel(); testMasterRotation(t, create(t)) })
	t.Run("newer database", func(t *testing.T) { t.Parallel(); testNewer(t, create(t)) })
}

// onTwo runs a test whose world has a second store over the same database.
func onTwo(test func(*testing.T, *world)) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		w.stores = append(w.stores, w.open(t))
		test(t, w)
	}
}

func testOpenTwice(t *testing.T, db Database) {
	w := newWorld(t, db)
	must(t, w.Close())
	again := w.open(t)
	got, err := again.Workspace(t.Context(), w.ws)
	must(t, err)
	equal(t, "name of the workspace after opening again", got.Name, "acme")
}

func testNewer(t *testing.T, db Database) {
	w := newWorld(t, db)
	must(t, w.Close())
	exec(t, db.Raw, `insert into schema_versions (number) values (9999)`)
	s, err := store.Open(context.Background(), w.db.Options)
	if err == nil {
		s.Close()
		t.Fatal("a database newer than the program was opened")
	}
	contains(t, err.Error(), "9999")
}
