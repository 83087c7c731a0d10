alter table hodls add column known bytea not null default '';  -- digest of what makes two hodls the same; empty while it is not indexed
create index hodls_by_known on hodls (workspace, mode, member, known);
create index hodls_with_chores on hodls (workspace, deleted_at) where deleted_at > 0 or known = '';

create table hodl_tags (
    workspace text   not null,
    mode      text   not null,
    member    text   not null,
    tag       text   not null collate "C",
    hodls     bigint not null,                -- how many carry it
    primary key (workspace, mode, member, tag) ) with (fillfactor = 70);
alter table hodl_tags enable row level security;
alter table hodl_tags force row level security;
create policy tenant on hodl_tags using (workspace = any ((select hodl_scope())::text[]));

-- The words of each hodl. PostgreSQL does not let a policy's table be searched
-- through a text index, because @@ might tell of rows the policy hides. So this table
-- alone does not force its policy upon its owner, and is searched by one function of
-- the owner's, which looks at the scope itself and returns ids, no words.
create table hodl_words (
    workspace text     not null,
    mode      text     not null,
    member    text     not null,
    hodl      text     not null,
    words     tsvector not null,
    primary key (workspace, mode, member, hodl) );
create index hodl_words_by_word on hodl_words using gin (words) with (gin_pending_list_limit = 1024);
alter table hodl_words enable row level security;
create policy tenant on hodl_words using (workspace = any ((select hodl_scope())::text[]));

create function hodl_search(in_workspace text, in_mode text, of_member text, wanted tsquery, before_id text, since bigint, until bigint,
    in_session text, deleted_after bigint, most bigint) returns setof text
language plpgsql stable security definer rows 20 set search_path = pg_catalog, public set plan_cache_mode = force_custom_plan as $$
begin
    return query select w.hodl from public.hodl_words w
        join public.hodls h on h.workspace = w.workspace and h.mode = w.mode and h.member = w.member and h.id = w.hodl
        where in_workspace = any (public.hodl_scope())
        and w.workspace = in_workspace and w.mode = in_mode and w.member = of_member and w.words @@ wanted and w.hodl < before_id
        and h.created_at >= since and h.created_at < until and (in_session = '' or h.session = in_session)
        and case when deleted_after = 0 then h.deleted_at = 0 else h.deleted_at > deleted_after end
        order by w.hodl desc limit most;
end $$;
revoke execute on function hodl_search(text, text, text, tsquery, text, bigint, bigint, text, bigint, bigint) from public;

-- Which workspaces have hodls to purge or to index: all that is told across them.
create policy chores on hodls for select using (current_setting('hodl.chores', true) = 'on' and (deleted_at > 0 or known = ''));
create function hodl_chores(deleted_before bigint) returns setof text
language plpgsql security definer set search_path = pg_catalog, public as $$
begin
    perform set_config('hodl.chores', 'on', true);
    return query select distinct h.workspace from public.hodls h where h.known = '' or (h.deleted_at > 0 and h.deleted_at < deleted_before);
    perform set_config('hodl.chores', '', true);
end $$;
revoke execute on function hodl_chores(bigint) from public;
