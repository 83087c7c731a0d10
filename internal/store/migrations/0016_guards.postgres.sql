-- As a bare comparison the guard took part in the search of an index: PostgreSQL then
-- sorted the list of workspaces anew for each key of a batch. Behind a function of the
-- column it is what it is for, a test of the rows that were found.
do $$
declare t text;
begin
    for t in select tablename from pg_policies where schemaname = current_schema() and policyname = 'tenant' loop
        execute format('alter policy tenant on %I using ((workspace || '''') = any ((select hodl_scope())::text[]))', t);
    end loop;
end $$;
