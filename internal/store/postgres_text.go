package store

// A join with a list of keys leaves PostgreSQL the choice to read every row of the
// batch's workspaces, which row-level security names to it, and while its
// statistics are young it takes it. A lateral look-up with offset 0 or a lock is one
// it cannot turn around: each key goes through its index, however large the table.
const (
	pgLoadLogs = `select l.workspace, l.mode, l.size, l.epoch, w.plan, w.max_ttl_seconds, w.max_hydrations, w.hydrations_an_hour, l.policy, l.policies, w.token_receipts > 0, l.tree, l.signatures, l.ctid
		from unnest($1::text[], $2::text[]) k (workspace, mode)
		cross join lateral (select l.ctid, l.* from log_heads l where l.workspace = k.workspace and l.mode = k.mode for update) l
		cross join lateral (select plan, max_ttl_seconds, max_hydrations, hydrations_an_hour, token_receipts from workspaces w where w.workspace = k.workspace offset 0) w`
	// What the locks of the heads guard is read after them, by a statement of its own:
	// a statement sees nothing that was committed while it waited for a lock, but the
	// row that it locks.
	pgLoadUsage = `select u.workspace, u.mode, u.month, u.hydrations
		from unnest($1::text[], $2::text[], $3::text[]) k (workspace, mode, month)
		cross join lateral (select * from usage u where u.workspace = k.workspace and u.mode = k.mode and u.month = k.month offset 0) u`
	pgLoadTokens = `select t.workspace, t.mode, t.id, ` + hotToken + `, t.ctid
		from unnest($1::text[], $2::text[], $3::text[]) k (workspace, mode, id)
		cross join lateral (select t.ctid, t.* from tokens t where t.workspace = k.workspace and t.mode = k.mode and t.id = k.id offset 0) t`
	pgLoadAncestors = `select t.workspace, t.mode, t.id, ` + hotToken + `, t.ctid
		from unnest($1::text[], $2::text[], $3::text[]) k (workspace, mode, id)
		cross join lateral (select c.ancestors as line from tokens c where c.workspace = k.workspace and c.mode = k.mode and c.id = k.id offset 0) c
		cross join lateral unnest(string_to_array(c.line, ' ')) a (id)
		cross join lateral (select t.ctid, t.* from tokens t where t.workspace = k.workspace and t.mode = k.mode and t.id = a.id offset 0) t`
	pgLoadChildren = `select t.workspace, t.mode, t.id, ` + hotToken + `, t.ctid
		from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) k (workspace, mode, parent, at)
		cross join lateral (select t.ctid, t.* from tokens t where t.workspace = k.workspace and t.mode = k.mode and t.parent = k.parent and t.parent <> ''
			and t.expires_at > k.at and t.revoked_at = 0 offset 0) t`
	// A token minted since the last revocation of many ends here, at the log's head.
	pgLoadEnds = `select t.workspace, t.mode, t.id, e.at, e.reason
		from unnest($1::text[], $2::text[], $3::text[]) k (workspace, mode, id)
		cross join lateral (select epoch from log_heads l where l.workspace = k.workspace and l.mode = k.mode and l.epoch > 0 offset 0) l
		cross join lateral (select * from tokens t where t.workspace = k.workspace and t.mode = k.mode and t.id = k.id and t.seq < l.epoch offset 0) t
		cross join lateral (select r.at, r.reason
			from (values ('session', t.session), ('key', t.api_key), ('user', t.member), ('workspace', t.workspace)) s (kind, subject)
			cross join lateral (select * from revocations r where r.workspace = t.workspace and r.mode = t.mode and r.kind = s.kind and r.subject = s.subject
				and r.seq > t.seq order by r.seq limit 1) r
			order by r.seq limit 1) e`
	pgLoadSessions = `select s.workspace, s.mode, s.id, s.member, s.state, s.fingerprint, s.captured_at, s.created_at, s.updated_at, s.hour, s.hour_hydrations, s.by_key
		from unnest($1::text[], $2::text[], $3::text[]) k (workspace, mode, id)
		cross join lateral (select * from sessions s where s.workspace = k.workspace and s.mode = k.mode and s.id = k.id for update) s`

	pgLoadDataKeys = `select d.workspace, d.version, d.retired_at
		from unnest($1::text[], $2::bigint[]) k (workspace, version)
		cross join lateral (select * from data_keys d where d.workspace = k.workspace and d.version = k.version for share) d`

	// A row that was loaded is saved where it was found: nobody moves it before the
	// transaction ends, and no index is searched again.
	// A head and a token are saved where they were found: nobody moves them before the
	// transaction ends, and no index is searched again.
	pgSaveLogs = `update log_heads l set size = v.size, epoch = v.epoch, tree = v.tree, signatures = v.signatures
		from unnest($1::text[], $2::tid[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[]) v (workspace, at, size, epoch, tree, signatures)
		where l.ctid = v.at and l.workspace = v.workspace`
	pgSaveUsage = `insert into usage (workspace, mode, month, hydrations)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
		on conflict (workspace, mode, month) do update set hydrations = excluded.hydrations`
	// The records of these tiles were added just before.
	pgAddLeaves = `insert into log_tiles (workspace, mode, level, tile, hashes)
		select k.workspace, k.mode, 0, k.tile, t.hashes from unnest($1::text[], $2::text[], $3::bigint[]) k (workspace, mode, tile)
		cross join lateral (select string_agg(sha256('\x00'::bytea || r.commitment), ''::bytea order by r.seq) as hashes from access_records r
			where r.workspace = k.workspace and r.mode = k.mode and r.seq >= k.tile * 256 and r.seq < (k.tile + 1) * 256) t`
	pgSaveTiles = `insert into log_tiles as t (workspace, mode, level, tile, hashes)
		select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[])
		on conflict (workspace, mode, level, tile) do update set hashes = t.hashes || excluded.hashes`
	pgSaveTokens = `update tokens t set hydrations = v.hydrations, drawn = v.drawn, revoked_at = v.revoked_at, revoke_reason = v.revoke_reason
		from unnest($1::text[], $2::tid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[]) v (workspace, at, hydrations, drawn, revoked_at, revoke_reason)
		where t.ctid = v.at and t.workspace = v.workspace`
	pgSaveSessions = `update sessions s set head = coalesce(v.head, s.head), state = v.state, fingerprint = v.fingerprint, captured_at = v.captured_at, updated_at = v.updated_at,
			hour = v.hour, hour_hydrations = v.hour_hydrations, by_key = v.by_key
		from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
			v (workspace, mode, id, head, state, fingerprint, captured_at, updated_at, hour, hour_hydrations, by_key)
		cross join lateral (select x.ctid from sessions x where x.workspace = v.workspace and x.mode = v.mode and x.id = v.id offset 0) x
		where s.ctid = x.ctid`

	pgLoadHodls = `select h.workspace, h.mode, h.member, h.id, h.updated_at, h.deleted_at, h.tags, h.known
		from unnest($1::text[], $2::text[], $3::text[], $4::text[]) k (workspace, mode, member, id)
		cross join lateral (select * from hodls h where h.workspace = k.workspace and h.mode = k.mode and h.member = k.member and h.id = k.id for update) h`
	pgSaveHodls = `update hodls h set url = v.url, title = v.title, note = v.note, tags = v.tags, location = v.location, selection = v.selection,
			session = v.session, updated_at = v.updated_at, deleted_at = v.deleted_at, known = v.known
		from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bytea[], $11::text[], $12::bigint[], $13::bigint[], $14::bytea[])
			v (workspace, mode, member, id, url, title, note, tags, location, selection, session, updated_at, deleted_at, known)
		cross join lateral (select x.ctid from hodls x where x.workspace = v.workspace and x.mode = v.mode and x.member = v.member and x.id = v.id offset 0) x
		where h.ctid = x.ctid`
	pgRevoke = `update tokens t set revoked_at = v.at, revoke_reason = v.reason
		from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[]) v (workspace, mode, session, at, reason)
		where t.workspace = v.workspace and t.mode = v.mode and t.session = v.session and t.revoked_at = 0`
	pgDetachHodls = `update hodls h set session = ''
		from unnest($1::text[], $2::text[], $3::text[]) v (workspace, mode, session)
		where h.workspace = v.workspace and h.mode = v.mode and h.session = v.session and h.session <> ''`
	pgEraseVersions = `delete from session_versions s using unnest($1::text[], $2::text[], $3::text[]) v (workspace, mode, session)
		where s.workspace = v.workspace and s.mode = v.mode and s.session = v.session`
	pgEraseSessions = `delete from sessions s using unnest($1::text[], $2::text[], $3::text[]) v (workspace, mode, id)
		cross join lateral (select x.ctid from sessions x where x.workspace = v.workspace and x.mode = v.mode and x.id = v.id offset 0) x
		where s.ctid = x.ctid`

	pgAddTokens = `insert into tokens (workspace, mode, id, session, member, api_key, audience, scopes, redaction_policy, max_hydrations, hydrations, issued_at, expires_at, revoked_at, revoke_reason,
			parent, ancestors, drawn, seq, link)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[],
			$16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[])`
	pgAddEnds = `insert into revocations (workspace, mode, kind, subject, seq, at, reason)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
		on conflict (workspace, mode, kind, subject, seq) do nothing`
	pgAddSessions = `insert into sessions (workspace, mode, id, member, head, state, fingerprint, captured_at, created_at, updated_at, by_key)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])`
	pgAddVersions = `insert into session_versions (workspace, mode, session, fingerprint, captured_at, author, body)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bytea[])
		on conflict (workspace, mode, session, fingerprint) do update set body = excluded.body`
	pgAddHodls = `insert into hodls (workspace, mode, member, id, url, title, note, tags, source, location, selection, session, created_at, updated_at, deleted_at, known)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bytea[], $12::text[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bytea[])`
	pgSaveWords = `insert into hodl_words (workspace, mode, member, hodl, words)
		select v.workspace, v.mode, v.member, v.hodl, v.words::tsvector from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) v (workspace, mode, member, hodl, words)
		on conflict (workspace, mode, member, hodl) do update set words = excluded.words`
	pgCountTags = `insert into hodl_tags as t (workspace, mode, member, tag, hodls)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
		on conflict (workspace, mode, member, tag) do update set hodls = t.hodls + excluded.hodls`
	pgAddRecords = `with v as (
			select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::bytea[],
				$13::bytea[], $14::text[], $15::text[])
				v (workspace, mode, seq, id, kind, member, session, jti, actor, at, body, commitment, salt, address, user_agent)),
		details as (
			insert into access_details (workspace, mode, seq, salt, address, user_agent)
			select workspace, mode, seq, salt, address, user_agent from v)
		insert into access_records (workspace, mode, seq, id, kind, member, session, jti, actor, at, body, commitment)
		select workspace, mode, seq, id, kind, member, session, jti, actor, at, body, commitment from v`
	pgLoadOnce = `select o.workspace, o.mode, o.name, o.request, o.answer
		from unnest($1::text[], $2::text[], $3::text[]) k (workspace, mode, name)
		cross join lateral (select * from idempotency_keys o where o.workspace = k.workspace and o.mode = k.mode and o.name = k.name offset 0) o`
	pgAddOnce = `insert into idempotency_keys (workspace, mode, name, request, answer, expires_at)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::bigint[])`
	pgAddEvents = `insert into outbox (workspace, id, mode, type, session, jti, at)
		select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])`
)
