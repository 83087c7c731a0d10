package store

const (
	// Rows of every workspace: on PostgreSQL functions of the owner's tell these.
	sqliteLogsThere = `select workspace, mode, size from log_heads where size > 0`
	sqliteLogsAhead = `select h.workspace, h.mode, h.size from log_heads h left join anchor_keys k on k.workspace = h.workspace and k.mode = h.mode
		where h.size > coalesce(k.size, 0) limit $1`

	sqliteBegin    = `begin immediate`
	sqliteCommit   = `commit`
	sqliteRollback = `rollback`

	sqliteLoadUsage   = `select hydrations from usage where workspace = $1 and mode = $2 and month = $3`
	sqliteLoadSession = `select member, state, fingerprint, captured_at, created_at, updated_at, hour, hour_hydrations, by_key from sessions
		where workspace = $1 and mode = $2 and id = $3`
	sqliteLoadChildren = `select workspace, mode, id, ` + hotToken + ` from tokens
		where workspace = $1 and mode = $2 and parent = $3 and parent <> '' and expires_at > $4 and revoked_at = 0`

	sqliteSaveLog    = `update log_heads set size = $3, epoch = $4, tree = $5, signatures = $6 where workspace = $1 and mode = $2`
	sqliteReadLeaves = `select commitment from access_records where workspace = $1 and mode = $2 and seq >= $3 and seq < $4 order by seq`
	sqliteSaveTile   = `insert into log_tiles (workspace, mode, level, tile, hashes) values ($1, $2, $3, $4, $5)
		on conflict (workspace, mode, level, tile) do update set hashes = cast(hashes || excluded.hashes as blob)`
	sqliteSaveUsage   = `update usage set hydrations = $4 where workspace = $1 and mode = $2 and month = $3`
	sqliteSaveToken   = `update tokens set hydrations = $4, drawn = $5, revoked_at = $6, revoke_reason = $7 where workspace = $1 and mode = $2 and id = $3`
	sqliteSaveSession = `update sessions set head = coalesce($4, head), state = $5, fingerprint = $6, captured_at = $7, updated_at = $8,
		hour = $9, hour_hydrations = $10, by_key = $11 where workspace = $1 and mode = $2 and id = $3`

	// A hodl that a restoration put anywhere gets its place.
	sqliteSaveHodl = `update hodls set url = $5, title = $6, note = $7, tags = $8, location = $9, selection = $10, session = $11, updated_at = $12, deleted_at = $13, known = $14,
			place = case when place >= $15 and place < $15 + (1 << 20) then place
				else (select coalesce(max(place), $15 - 1) + 1 from hodls where place >= $15 and place < $15 + (1 << 20)) end
		where workspace = $1 and mode = $2 and member = $3 and id = $4 returning place`
	sqliteRevoke        = `update tokens set revoked_at = $4, revoke_reason = $5 where workspace = $1 and mode = $2 and session = $3 and revoked_at = 0`
	sqliteDetachHodls   = `update hodls set session = '' where workspace = $1 and mode = $2 and session = $3 and session <> ''`
	sqliteEraseVersions = `delete from session_versions where workspace = $1 and mode = $2 and session = $3`
	sqliteEraseSession  = `delete from sessions where workspace = $1 and mode = $2 and id = $3`

	sqliteAddUsage = `insert into usage (workspace, mode, month, hydrations) values ($1, $2, $3, $4)`
	sqliteAddToken = `insert into tokens (workspace, mode, id, session, member, api_key, audience, scopes, redaction_policy, max_hydrations, hydrations, issued_at, expires_at, revoked_at, revoke_reason, parent, ancestors, drawn, seq, link)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`
	sqliteAddEnd = `insert into revocations (workspace, mode, kind, subject, seq, at, reason) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (workspace, mode, kind, subject, seq) do nothing`
	sqliteAddSession = `insert into sessions (workspace, mode, id, member, head, state, fingerprint, captured_at, created_at, updated_at, by_key)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	sqliteAddVersion = `insert into session_versions (workspace, mode, session, fingerprint, captured_at, author, body)
		values ($1, $2, $3, $4, $5, $6, $7) on conflict (workspace, mode, session, fingerprint) do update set body = excluded.body`
	sqliteLastPlace = `select coalesce(max(place), $1 - 1) from hodls where place >= $1 and place < $1 + (1 << 20)`
	sqliteAddHodl   = `insert into hodls (place, workspace, mode, member, id, url, title, note, tags, source, location, selection, session, created_at, updated_at, deleted_at, known)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	sqliteAddWords  = `insert into hodl_words (rowid, url, repository, file, text) values ($1, $2, $3, $4, $5)`
	sqliteSaveWords = `insert or replace into hodl_words (rowid, url, repository, file, text) values ($1, $2, $3, $4, $5)`
	// Eight segments of a level become one, but no more pages of them are written than
	// named: a batch that merged all that is due would hold up the others.
	sqliteMergeWords = `insert into hodl_words (hodl_words, rank) values ('merge', $1)`
	sqliteCountTag   = `insert into hodl_tags (workspace, mode, member, tag, hodls) values ($1, $2, $3, $4, $5)
		on conflict (workspace, mode, member, tag) do update set hodls = hodls + excluded.hodls`
	sqliteAddRecord = `insert into access_records (workspace, mode, seq, id, kind, member, session, jti, actor, at, body, commitment)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	sqliteAddDetail = `insert into access_details (workspace, mode, seq, salt, address, user_agent) values ($1, $2, $3, $4, $5, $6)`
	sqliteAddOnce   = `insert into idempotency_keys (workspace, mode, name, request, answer, expires_at) values ($1, $2, $3, $4, $5, $6)`
	sqliteAddEvent  = `insert into outbox (workspace, id, mode, type, session, jti, at) values ($1, $2, $3, $4, $5, $6, $7)`
)

// The rows a batch locks, by key. What a row is made of is what takeLog and the
// like scan.
var (
	sqliteLogs = newSQLiteLoad(2, `select l.workspace, l.mode, l.size, l.epoch, w.plan, w.max_ttl_seconds, w.max_hydrations, w.hydrations_an_hour, l.policy, l.policies, w.token_receipts > 0, l.tree, l.signatures from log_heads l join workspaces w on w.workspace = l.workspace
		where l.workspace = ? and l.mode = ?`)
	sqliteUsage  = newSQLiteLoad(3, `select workspace, mode, month, hydrations from usage where workspace = ? and mode = ? and month = ?`)
	sqliteTokens = newSQLiteLoad(3, `select workspace, mode, id, `+hotToken+`
		from tokens where workspace = ? and mode = ? and id = ?`)
	sqliteSessions = newSQLiteLoad(3, `select workspace, mode, id, member, state, fingerprint, captured_at, created_at, updated_at, hour, hour_hydrations, by_key
		from sessions where workspace = ? and mode = ? and id = ?`)
	sqliteDataKeys = newSQLiteLoad(2, `select workspace, version, retired_at from data_keys where workspace = ? and version = ?`)
	sqliteHodls    = newSQLiteLoad(4, `select workspace, mode, member, id, updated_at, deleted_at, tags, known
		from hodls where workspace = ? and mode = ? and member = ? and id = ?`)
	sqliteOnce = newSQLiteLoad(3, `select workspace, mode, name, request, answer from idempotency_keys where workspace = ? and mode = ? and name = ?`)
)

// sqliteEraseWords takes what the index knows of a person's hodls: its rows are theirs.
const sqliteEraseWords = `delete from hodl_words where rowid in (select place from hodls where workspace = $1 and member = $2)`

// sqliteEraseJournal takes promises to a workspace that have been kept: they repeat what
// makes its records personal.
const sqliteEraseJournal = `delete from journal where workspace = $1`
