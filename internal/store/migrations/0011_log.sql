-- Each log is a Merkle tree over the commitments of its records (RFC 6962). Its head
-- remembers the roots of the perfect subtrees, which is all it takes to grow, and the
-- signatures of the checkpoint over them.
alter table log_heads add column tree bytea not null default /*sqlite: x'' */ /*postgres: '' */;       -- 32 bytes for each bit set in size
alter table log_heads add column signatures bytea not null default /*sqlite: x'' */ /*postgres: '' */; -- 68 bytes for each key that signs

-- The hashes of the tree by tiles of 256 (c2sp.org/tlog-tiles). At level 0 only full
-- tiles are kept: the last one is the commitments of the last records.
create table log_tiles (
    workspace text   not null,
    mode      text   not null,
    level     bigint not null,
    tile      bigint not null,               -- its place in the level
    hashes    bytea  not null,               -- 32 bytes each
    primary key (workspace, mode, level, tile) ) /*sqlite: without rowid */;
/*postgres: alter table log_tiles enable row level security; */
/*postgres: alter table log_tiles force row level security; */
/*postgres: create policy tenant on log_tiles using (workspace = any ((select hodl_scope())::text[])); */

-- The keys that checkpoints are signed with. A row stays when its seed is gone: old
-- checkpoints are verified with the public half.
create table log_keys (
    id          text   not null primary key,  -- SHA-256 of the public half, in hex
    public      bytea  not null,
    seed        bytea,                        -- sealed under the master key; null once it no longer signs
    created_at  bigint not null,
    signs_until bigint not null );            -- 0 while no successor has its turn

-- Whether a resume token gets a receipt with each hydration: it tells the size of the log.
alter table workspaces add column token_receipts bigint not null default 0;

-- A head grows with its tree, so that no older hodl appends a record without a leaf.
-- A tile grows at its end.
/*sqlite: create trigger log_heads_grow before update on log_heads when new.size < old.size or new.size > old.size and new.tree = old.tree begin select raise(abort, 'access logs are append-only; an older hodl cannot write them'); end; */
/*sqlite: create trigger log_heads_no_delete before delete on log_heads begin select raise(abort, 'access logs are append-only'); end; */
/*sqlite: create trigger log_tiles_grow before update on log_tiles when substr(new.hashes, 1, length(old.hashes)) <> old.hashes begin select raise(abort, 'access logs are append-only'); end; */
/*sqlite: create trigger log_tiles_no_delete before delete on log_tiles begin select raise(abort, 'access logs are append-only'); end; */
/*postgres: create function hodl_refuse_log() returns trigger language plpgsql as $$ begin raise exception 'access logs are append-only; an older hodl cannot write them' using errcode = 'integrity_constraint_violation'; end $$; */
/*postgres: create trigger log_heads_grow before update on log_heads for each row when (new.size < old.size or new.size > old.size and new.tree = old.tree) execute function hodl_refuse_log(); */
/*postgres: create trigger log_heads_no_delete before delete on log_heads for each row execute function hodl_refuse_log(); */
/*postgres: create trigger log_tiles_grow before update on log_tiles for each row when (substr(new.hashes, 1, length(old.hashes)) <> old.hashes) execute function hodl_refuse_log(); */
/*postgres: create trigger log_tiles_no_delete before delete on log_tiles for each row execute function hodl_refuse_log(); */
/*postgres: create trigger log_tiles_no_truncate before truncate on log_tiles for each statement execute function hodl_refuse_log(); */

-- Which logs there are: for the check at the start, and for the log of heads.
/*postgres: create policy logs on log_heads for select using (current_setting('hodl.logs', true) = 'on'); */
/*postgres: create function hodl_logs() returns table (workspace text, mode text, size bigint) language plpgsql security definer set search_path = pg_catalog, public as $$ begin perform set_config('hodl.logs', 'on', true); return query select h.workspace, h.mode, h.size from public.log_heads h where h.size > 0; perform set_config('hodl.logs', '', true); end $$; */
/*postgres: revoke execute on function hodl_logs() from public; */
