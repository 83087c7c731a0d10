-- What its members call a workspace. Names are unique, which must tell nobody of
-- another workspace: those of workspaces that a key makes are their ids.
alter table workspaces add column label text not null default '';      -- '' for the name
