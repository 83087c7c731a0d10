-- The server's own log: an entry for each workspace's log that has grown, about every
-- second. Its entries tell nobody but the workspace whose they are.
create table global_log (
    id         bigint not null primary key,  -- always 1; no row while the log is empty
    size       bigint not null,
    tree       bytea  not null,              -- as in log_heads
    signatures bytea  not null,
    at         bigint not null );            -- when it last grew
create table global_entries (
    place      bigint not null primary key,
    entry      bytea  not null );            -- 64 bytes: a tag and a salted hash of a head
create table global_tiles (
    level      bigint not null,
    tile       bigint not null,
    hashes     bytea  not null,
    primary key (level, tile) );

-- The key by which a workspace finds its entries, and how far its log is in them.
create table anchor_keys (
    workspace  text   not null,
    mode       text   not null,
    key        bytea  not null,              -- 32 random bytes, sealed
    size       bigint not null default 0,
    primary key (workspace, mode) );
-- The entries of each log.
create table anchors (
    workspace  text   not null,
    mode       text   not null,
    place      bigint not null,
    size       bigint not null,
    root       bytea  not null,
    primary key (workspace, mode, place) ) /*sqlite: without rowid */;
/*postgres: alter table anchor_keys enable row level security; */
/*postgres: alter table anchor_keys force row level security; */
/*postgres: create policy tenant on anchor_keys using (workspace = any ((select hodl_scope())::text[])); */
/*postgres: alter table anchors enable row level security; */
/*postgres: alter table anchors force row level security; */
/*postgres: create policy tenant on anchors using (workspace = any ((select hodl_scope())::text[])); */

/*sqlite: create trigger global_log_grow before update on global_log when new.size < old.size or new.size > old.size and new.tree = old.tree begin select raise(abort, 'access logs are append-only'); end; */
/*sqlite: create trigger global_log_no_delete before delete on global_log begin select raise(abort, 'access logs are append-only'); end; */
/*sqlite: create trigger global_entries_no_update before update on global_entries begin select raise(abort, 'access logs are append-only'); end; */
/*sqlite: create trigger global_entries_no_delete before delete on global_entries begin select raise(abort, 'access logs are append-only'); end; */
/*postgres: create trigger global_log_grow before update on global_log for each row when (new.size < old.size or new.size > old.size and new.tree = old.tree) execute function hodl_refuse_log(); */
/*postgres: create trigger global_log_no_delete before delete on global_log for each row execute function hodl_refuse_log(); */
/*postgres: create trigger global_entries_append_only before update or delete on global_entries for each row execute function hodl_refuse_log(); */

-- Which logs have grown since their last entry.
/*postgres: create policy logs on anchor_keys for select using (current_setting('hodl.logs', true) = 'on'); */
/*postgres: create function hodl_logs_ahead(most bigint) returns table (workspace text, mode text, size bigint) language plpgsql security definer set search_path = pg_catalog, public as $$ begin perform set_config('hodl.logs', 'on', true); return query select h.workspace, h.mode, h.size from public.log_heads h left join public.anchor_keys k on k.workspace = h.workspace and k.mode = h.mode where h.size > coalesce(k.size, 0) limit most; perform set_config('hodl.logs', '', true); end $$; */
/*postgres: revoke execute on function hodl_logs_ahead(bigint) from public; */

-- The details of a record are erased with their person alone: once the log says that
-- the person was. Nothing else deletes them, and nothing changes them.
create index access_records_of_erasures on access_records (workspace, mode, member, seq) where kind = 'erased';
/*sqlite: drop trigger access_details_no_delete; */
/*sqlite: create trigger access_details_no_delete before delete on access_details when not exists (select 1 from access_records r join access_records e on e.workspace = r.workspace and e.mode = r.mode and e.member = r.member and e.kind = 'erased' and e.seq > r.seq where r.workspace = old.workspace and r.mode = old.mode and r.seq = old.seq) begin select raise(abort, 'access records are immutable'); end; */
/*postgres: create function hodl_refuse_unerased() returns trigger language plpgsql as $$ begin if tg_op = 'DELETE' then if exists (select from access_records r join access_records e on e.workspace = r.workspace and e.mode = r.mode and e.member = r.member and e.kind = 'erased' and e.seq > r.seq where r.workspace = old.workspace and r.mode = old.mode and r.seq = old.seq) then return old; end if; end if; raise exception 'access records are immutable' using errcode = 'integrity_constraint_violation'; end $$; */
/*postgres: drop trigger access_details_append_only on access_details; */
/*postgres: create trigger access_details_append_only before update or delete on access_details for each row execute function hodl_refuse_unerased(); */
