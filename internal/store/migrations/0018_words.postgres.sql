-- hodl_words does not force its policy upon the owner, whom hodl_search runs as. A hodl
-- is found in the workspace its words are of, where the policy of hodls does bind: if
-- the search ever forgot whose words it looks at, those of others would meet no hodl.
create or replace function hodl_search(in_workspace text, in_mode text, of_member text, wanted tsquery, from_id text, before_id text, since bigint, until bigint,
    in_session text, deleted_after bigint, most bigint) returns setof text
language plpgsql stable security definer rows 20 set search_path = pg_catalog, public set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
declare
    found text[];
begin
    if in_workspace <> all (public.hodl_scope()) then return; end if;
    found := array(
        select w.hodl from (
            select x.workspace, x.hodl, x.words from public.hodl_words x
            where x.workspace = in_workspace and x.mode = in_mode and x.member = of_member and x.hodl >= from_id and x.hodl < before_id
            order by x.hodl desc limit 1000) w
        cross join lateral (select h.* from public.hodls h where h.workspace = w.workspace and h.mode = in_mode and h.member = of_member and h.id = w.hodl offset 0) h
        where w.words @@ wanted and h.created_at >= since and h.created_at < until and (in_session = '' or h.session = in_session)
        and case when deleted_after = 0 then h.deleted_at = 0 else h.deleted_at > deleted_after end
        order by w.hodl desc limit most);
    if cardinality(found) = most or not exists (
        select from public.hodl_words x
        where x.workspace = in_workspace and x.mode = in_mode and x.member = of_member and x.hodl >= from_id and x.hodl < before_id
        order by x.hodl desc offset 1000 limit 1) then
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
