-- What the index of words holds of a hodl beside its words (tags, source, kind) is
-- from now on under its owner's name. The chores index all hodls anew. Policies bind
-- who owns the tables too.
alter table hodls no force row level security;
alter table hodl_tags no force row level security;
update hodls set known = '';
delete from hodl_tags;
alter table hodls force row level security;
alter table hodl_tags force row level security;

-- PostgreSQL takes the workspace and the member of a row for independent, and so
-- expects a hundredth of what one has: it would read and sort all of it for the
-- newest. Without sorting it walks the key from its end; where there is no other way
-- it sorts all the same. The owner's key has made the index of words quick for what is
-- rare, so that fewer of the newest are looked at first.
create or replace function hodl_search(in_workspace text, in_mode text, of_member text, wanted tsquery, from_id text, before_id text, since bigint, until bigint,
    in_session text, deleted_after bigint, most bigint) returns setof text
language plpgsql stable security definer rows 20 set search_path = pg_catalog, public set plan_cache_mode = force_custom_plan set enable_seqscan = off set enable_sort = off as $$
declare
    found text[];
begin
    if in_workspace <> all (public.hodl_scope()) then return; end if;
    found := array(
        select w.hodl from (
            select x.workspace, x.hodl, x.words from public.hodl_words x
            where x.workspace = in_workspace and x.mode = in_mode and x.member = of_member and x.hodl >= from_id and x.hodl < before_id
            order by x.hodl desc limit 300) w
        cross join lateral (select h.* from public.hodls h where h.workspace = w.workspace and h.mode = in_mode and h.member = of_member and h.id = w.hodl offset 0) h
        where w.words @@ wanted and h.created_at >= since and h.created_at < until and (in_session = '' or h.session = in_session)
        and case when deleted_after = 0 then h.deleted_at = 0 else h.deleted_at > deleted_after end
        order by w.hodl desc limit most);
    if cardinality(found) = most or not exists (
        select from public.hodl_words x
        where x.workspace = in_workspace and x.mode = in_mode and x.member = of_member and x.hodl >= from_id and x.hodl < before_id
        order by x.hodl desc offset 300 limit 1) then
        return query select unnest(found);
        return;
    end if;
    return query select w.hodl from (select x.* from public.hodl_words x where x.words @@ wanted offset 0) w
        cross join lateral (select h.* from public.hodls h where h.workspace = w.workspace and h.mode = in_mode and h.member = of_member and h.id = w.hodl offset 0) h
        where w.workspace = in_workspace and w.mode = in_mode and w.member = of_member and w.hodl >= from_id and w.hodl < before_id
        and h.created_at >= since and h.created_at < until and (in_session = '' or h.session = in_session)
        and case when deleted_after = 0 then h.deleted_at = 0 else h.deleted_at > deleted_after end
        order by w.hodl desc limit most;
end $$;
