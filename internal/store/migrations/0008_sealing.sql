-- A retired data key opens what it sealed and seals nothing new: who still holds it
-- is refused when it writes. It goes when nothing is left under it.
alter table data_keys add column retired_at bigint not null default 0;

-- The master keys that were current at some time, by id: the first 8 bytes of the
-- key's SHA-256, in hex. No data key and no value of the server is wrapped under a
-- retired one any more.
create table master_keys (
    id         text   not null primary key,
    retired_at bigint not null default 0 );

-- Who owns the tables may list the workspaces, to work on each in turn: for the
-- operator's commands. The role the server works as may not.
/*postgres: create policy operator on workspaces for select to current_user using (current_setting('hodl.operator', true) = 'on'); */
