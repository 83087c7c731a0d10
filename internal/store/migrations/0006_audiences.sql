-- Audiences that a workspace has registered. The key is public.
create table audiences (
    workspace   text   not null references workspaces (workspace),
    mode        text   not null,
    id          text   not null,
    name        text   not null,              -- what stands in aud
    description text   not null,
    addresses   text   not null,              -- CIDR, space-separated; '' for anywhere
    jwk         text   not null,              -- public JWK (RFC 7517), '' when none
    created_at  bigint not null,
    updated_at  bigint not null,
    primary key (workspace, mode, id),
    unique (workspace, mode, name) );

-- Proofs of possession that were accepted, until they are too old to be.
create table proofs (
    workspace  text   not null,
    mode       text   not null,
    digest     bytea  not null,               -- SHA-256 of the key's thumbprint and the proof's jti
    expires_at bigint not null,
    primary key (workspace, mode, digest) ) /*sqlite: without rowid */;
create index proofs_by_end on proofs (workspace, mode, expires_at);

/*postgres: alter table audiences enable row level security; */
/*postgres: alter table audiences force row level security; */
/*postgres: create policy tenant on audiences using (workspace = any ((select hodl_scope())::text[])); */
/*postgres: alter table proofs enable row level security; */
/*postgres: alter table proofs force row level security; */
/*postgres: create policy tenant on proofs using (workspace = any ((select hodl_scope())::text[])); */
