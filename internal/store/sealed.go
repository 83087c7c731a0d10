package store

import (
	"strings"

	"hodl/internal/seal"
)

// A sealedColumn is where sealed values of workspaces lie. The object a value is
// sealed as is told by its row's key.
type sealedColumn struct {
	table, column string
	key           []string // the primary key without the workspace, all text
	purpose       seal.Purpose
	object        []string // of key; see objectOf
}

// sealedColumns is every one there is: what is not listed here is neither proven by
// hodl doctor nor sealed anew by a rotation. A test holds the list to the tables.
var sealedColumns = []sealedColumn{
	{"sessions", "head", []string{"mode", "id"}, purposeHead, []string{"mode", "id"}},
	{"session_versions", "body", []string{"mode", "session", "fingerprint"}, purposeSession, []string{"mode", "session", "fingerprint"}},
	{"hodls", "selection", []string{"mode", "member", "id"}, purposeSelection, []string{"mode", "id"}},
	{"redaction_policies", "document", []string{"mode", "id"}, purposePolicy, []string{"mode", "id"}},
	{"anchor_keys", "key", []string{"mode"}, purposeAnchor, []string{"mode"}},
	{"idempotency_keys", "answer", []string{"mode", "name"}, purposeAnswer, []string{"mode", "name"}},
}

// A serverColumn is where values lie that are sealed under the master key itself.
type serverColumn struct {
	table, column, key string // the key is the object
	purpose            seal.Purpose
}

var serverColumns = []serverColumn{
	{"signing_keys", "seed", "kid", purposeSigning},
	{"log_keys", "seed", "id", purposeLogKey},
}

// A SealedValue is a sealed value and what it opens as.
type SealedValue struct {
	Place   string // its table, column and key, for people
	Purpose seal.Purpose
	Object  string
	Value   []byte
}

// of names the object of the row with that key.
func (c *sealedColumn) of(key []string) string {
	parts := make([]string, 0, len(c.object))
	for _, name := range c.object {
		for i, k := range c.key {
			if k == name {
				parts = append(parts, key[i])
			}
		}
	}
	return strings.Join(parts, "/")
}

func (c *sealedColumn) place(key []string) string {
	return c.table + "." + c.column + " of " + strings.Join(key, " ")
}
