-- What SQLite has promised of a log and not yet filed: a hydration is durable here, at
-- the end of one tree, before its rows go each to its own place (see docs/adr/0019).
-- PostgreSQL has the table for a backup of SQLite's, and keeps nothing in it.
create table journal (
    place     /*sqlite: integer */ /*postgres: bigint */ not null primary key, -- the order of promises, of all workspaces
    workspace text   not null,
    mode      text   not null,
    entry     text   not null );             -- JSON
/*postgres: alter table journal enable row level security; */
/*postgres: alter table journal force row level security; */
/*postgres: create policy tenant on journal using (workspace = any ((select hodl_scope())::text[])); */
/*sqlite: create trigger journal_no_update before update on journal begin select raise(abort, 'access records are immutable'); end; */
