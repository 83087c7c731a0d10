package store_test

import (
	"slices"
	"testing"

	"hodl/internal/store"
)

// openly are the columns of bytes that are not sealed, each for its reason.
var openly = []string{
	"access_details.salt",       // of a commitment
	"proofs.digest",             // of what is public
	"access_records.commitment", // a hash
	"api_keys.digest",           // a hash
	"idempotency_keys.request",  // a hash
	"data_keys.wrapped",         // under the master key; rotated by itself
	"hodls.known",               // a hash
	"signing_keys.public",       // published
	"log_keys.public",           // published
	"log_heads.tree",            // hashes, published
	"log_heads.signatures",      // published
	"log_tiles.hashes",          // published
	"anchors.root",              // a hash
	"global_log.tree",           // hashes, published
	"global_log.signatures",     // published
	"global_entries.entry",      // published
	"global_tiles.hashes",       // published
}

// A column of bytes is either in the list of what is sealed or named above, so that
// no rotation leaves one behind.
func TestSealedColumnsAreListed(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			db := engine.create(t)
			open(t, db.Options)
			query := `select table_name || '.' || column_name from information_schema.columns where table_schema = 'public' and data_type = 'bytea'`
			if engine.name == "sqlite" {
				query = `select t.name || '.' || c.name from pragma_table_list t, pragma_table_info(t.name) c where t.type = 'table' and t.schema = 'main' and c.type in ('bytea', 'BLOB')`
			}
			rows, err := db.Raw.QueryContext(t.Context(), query)
			must(t, err)
			defer rows.Close()
			known := append(store.SealedColumns(), openly...)
			seen := 0
			for rows.Next() {
				var name string
				must(t, rows.Scan(&name))
				if seen++; !slices.Contains(known, name) {
					t.Errorf("%s holds bytes: list it in sealedColumns or serverColumns, or above if it is not sealed", name)
				}
			}
			must(t, rows.Err())
			if seen != len(known) {
				t.Errorf("%d columns of bytes, %d are known", seen, len(known))
			}
		})
	}
}
