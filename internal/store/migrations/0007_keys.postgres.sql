-- What bounds an API key beside its scopes.
alter table api_keys add column expires_at bigint not null default 0;  -- 0 for never
alter table api_keys add column addresses text not null default '';    -- space-separated CIDR ranges; '' for anywhere
alter table api_keys add column origins text not null default '';      -- space-separated web origins; '' for no page
alter table api_keys add column replaced_by text not null default '';  -- the key it was last rotated to

-- A member who is removed keeps the row: what they made refers to it.
alter table members add column removed_at bigint not null default 0;   -- 0 while they are there
create index members_by_id on members (id);

-- The look-up of 0002, with what is new of a key.
drop function hodl_credential(bytea);
create function hodl_credential(wanted bytea) returns table (
    workspace text, id text, member text, mode text, scopes text, addresses text, origins text, expires_at bigint, last_used_at bigint, revoked_at bigint,
    role text, plan text)
language plpgsql security definer set search_path = pg_catalog, public as $$
declare found_in text;
    scope text := coalesce(current_setting('hodl.workspaces', true), '');
begin
    perform set_config('hodl.credential', encode(wanted, 'hex'), true);
    select k.workspace into found_in from public.api_keys k where k.digest = wanted;
    perform set_config('hodl.credential', '', true);
    if found_in is null then return; end if;
    perform set_config('hodl.workspaces', found_in, true);
    return query select k.workspace, k.id, k.member, k.mode, k.scopes, k.addresses, k.origins, k.expires_at, k.last_used_at, k.revoked_at, m.role, w.plan
        from public.api_keys k
        join public.members m on m.workspace = k.workspace and m.id = k.member and m.removed_at = 0
        join public.workspaces w on w.workspace = k.workspace
        where k.workspace = found_in and k.digest = wanted;
    perform set_config('hodl.workspaces', scope, true);
end $$;

-- The one other way across workspaces: which ones a person is a member of.
create policy person on members for select using (id = nullif(current_setting('hodl.person', true), ''));
create function hodl_workspaces_of(wanted text) returns setof text
language plpgsql security definer set search_path = pg_catalog, public as $$
declare found_in text[];
begin
    perform set_config('hodl.person', wanted, true);
    select array_agg(m.workspace) into found_in from public.members m where m.id = wanted and m.removed_at = 0;
    perform set_config('hodl.person', '', true);
    return query select unnest(found_in);
end $$;
