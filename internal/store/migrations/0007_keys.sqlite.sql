-- What bounds an API key beside its scopes.
alter table api_keys add column expires_at bigint not null default 0;  -- 0 for never
alter table api_keys add column addresses text not null default '';    -- space-separated CIDR ranges; '' for anywhere
alter table api_keys add column origins text not null default '';      -- space-separated web origins; '' for no page
alter table api_keys add column replaced_by text not null default '';  -- the key it was last rotated to

-- A member who is removed keeps the row: what they made refers to it.
alter table members add column removed_at bigint not null default 0;   -- 0 while they are there
create index members_by_id on members (id);
