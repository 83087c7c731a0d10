-- Access records are append-only, whoever asks.
create function hodl_refuse() returns trigger language plpgsql as $$
begin raise exception 'access records are immutable' using errcode = 'integrity_constraint_violation'; end $$;
create trigger access_records_append_only before update or delete on access_records
    for each row execute function hodl_refuse();
create trigger access_records_no_truncate before truncate on access_records
    for each statement execute function hodl_refuse();
create trigger access_details_append_only before update or delete on access_details
    for each row execute function hodl_refuse();
create trigger access_details_no_truncate before truncate on access_details
    for each statement execute function hodl_refuse();

-- Row-level security is the second lock: a transaction sees the workspaces it has
-- named in hodl.workspaces (comma-separated) and no others, whatever a query
-- forgets. FORCE binds the owner too.
create function hodl_scope() returns text[] language sql stable as
$$ select coalesce(string_to_array(nullif(current_setting('hodl.workspaces', true), ''), ','), '{}') $$;

do $$
declare t text;
begin
    foreach t in array array['workspaces', 'data_keys', 'members', 'api_keys', 'hodls', 'sessions', 'session_versions',
        'tokens', 'usage', 'log_heads', 'access_records', 'access_details', 'outbox'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant on %I using (workspace = any ((select hodl_scope())::text[]))', t);
    end loop;
end $$;

-- A caller is known by its key alone, before any workspace is. These two functions
-- are the only way across workspaces: one exact digest, one exact name. They take
-- back what they have set: a SET clause, which would do so by itself, is for
-- superusers alone with a setting of one's own.
create policy credential on api_keys for select using (digest = decode(nullif(current_setting('hodl.credential', true), ''), 'hex'));
create policy named on workspaces for select using (name = nullif(current_setting('hodl.workspace_name', true), ''));

create function hodl_credential(wanted bytea) returns table (
    workspace text, id text, member text, mode text, scopes text, last_used_at bigint, revoked_at bigint, role text, plan text)
language plpgsql security definer set search_path = pg_catalog, public as $$
declare found_in text;
    scope text := coalesce(current_setting('hodl.workspaces', true), '');
begin
    perform set_config('hodl.credential', encode(wanted, 'hex'), true);
    select k.workspace into found_in from public.api_keys k where k.digest = wanted;
    perform set_config('hodl.credential', '', true);
    if found_in is null then return; end if;
    perform set_config('hodl.workspaces', found_in, true);
    return query select k.workspace, k.id, k.member, k.mode, k.scopes, k.last_used_at, k.revoked_at, m.role, w.plan
        from public.api_keys k
        join public.members m on m.workspace = k.workspace and m.id = k.member
        join public.workspaces w on w.workspace = k.workspace
        where k.workspace = found_in and k.digest = wanted;
    perform set_config('hodl.workspaces', scope, true);
end $$;

create function hodl_workspace_named(wanted text) returns text
language plpgsql security definer set search_path = pg_catalog, public as $$
declare found_id text;
begin
    perform set_config('hodl.workspace_name', wanted, true);
    select w.workspace into found_id from public.workspaces w where w.name = wanted;
    perform set_config('hodl.workspace_name', '', true);
    return found_id;
end $$;

-- Rows that change with every hydration stay on their page, and their indexes as
-- they are, while the page has room.
alter table usage set (fillfactor = 50);
alter table log_heads set (fillfactor = 50);
alter table tokens set (fillfactor = 70);
alter table sessions set (fillfactor = 70);
