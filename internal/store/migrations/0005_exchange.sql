-- Tokens that were exchanged for tokens, revocations of many at once, and the
-- bounds a workspace sets to all.

alter table tokens add column parent text not null default '';    -- the token it was exchanged for; '' when a key minted it
alter table tokens add column ancestors text not null default ''; -- space-separated, from the first minted to the parent
alter table tokens add column drawn bigint not null default 0;    -- hydrations of the tokens that came from it, at any distance
alter table tokens add column seq bigint not null default 0;      -- place of its mint in the log
alter table tokens add column link text not null default '';      -- SHA-256 of the id in its hand-off link, in hex; '' when none
create index tokens_by_parent on tokens (workspace, mode, parent, expires_at) where parent <> '';

-- Each row ends the tokens of one subject that were minted at a place before seq.
create table revocations (
    workspace text   not null,
    mode      text   not null,
    kind      text   not null,               -- session, key, user or workspace
    subject   text   not null,               -- its id
    seq       bigint not null,               -- size of the log at that moment
    at        bigint not null,
    reason    text   not null,
    primary key (workspace, mode, kind, subject, seq) ) /*sqlite: without rowid */;
/*postgres: alter table revocations enable row level security; */
/*postgres: alter table revocations force row level security; */
/*postgres: create policy tenant on revocations using (workspace = any ((select hodl_scope())::text[])); */

-- The highest seq of the revocations: a token minted at or after it is under none,
-- which whoever has locked the log's head knows without looking.
alter table log_heads add column epoch bigint not null default 0;

alter table workspaces add column max_ttl_seconds bigint not null default 86400;
alter table workspaces add column max_hydrations bigint not null default 1000;
alter table workspaces add column hydrations_an_hour bigint not null default 0; -- of one session; 0 for no cap

-- Hydrations of the session in the hour that began at hour; counted where there is a cap.
alter table sessions add column hour bigint not null default 0;
alter table sessions add column hour_hydrations bigint not null default 0;
