-- As a bare comparison the guard took part in the search of an index: PostgreSQL then
-- sorted the list of workspaces anew for each key of a batch. Within coalesce it is
-- what it is for, a test of the rows that were found, and is expected to spare half of
-- them: of a form that promises to leave few, PostgreSQL would sort all for the newest.
do $$
declare t text;
begin
    for t in select tablename from pg_policies where schemaname = current_schema() and policyname = 'tenant' loop
        execute format('alter policy tenant on %I using (coalesce(workspace = any ((select hodl_scope())::text[]), false))', t);
    end loop;
end $$;
