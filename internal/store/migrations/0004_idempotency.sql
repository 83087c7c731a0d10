-- What was answered to a request with an Idempotency-Key. A row is written once, in
-- the transaction of what the request changed.
create table idempotency_keys (
    workspace  text   not null,
    mode       text   not null,
    name       text   not null,               -- SHA-256 of the credential, the route and the key, in hex
    request    bytea  not null,               -- SHA-256 of all that a repeat has to repeat
    answer     bytea  not null,               -- sealed: it may hold a token or a key
    expires_at bigint not null,
    primary key (workspace, mode, name) );
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

/*postgres: alter table idempotency_keys enable row level security; */
/*postgres: alter table idempotency_keys force row level security; */
/*postgres: create policy tenant on idempotency_keys using (workspace = any ((select hodl_scope())::text[])); */
-- Rows whose time is over may be deleted by whoever says in hodl.expired_before what
-- time it is: the sweep belongs to no workspace.
/*postgres: create policy expired on idempotency_keys for select using (expires_at < (select nullif(current_setting('hodl.expired_before', true), '')::bigint)); */
/*postgres: create policy expired_delete on idempotency_keys for delete using (expires_at < (select nullif(current_setting('hodl.expired_before', true), '')::bigint)); */
