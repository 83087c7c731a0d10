-- Redaction policies: named documents in versions, of which the last one counts.
-- Which policy is the current one stands at the head of the log, the row that every
-- hydration locks: none is counted under a policy that is no longer current.
alter table log_heads add column policy text not null default 'default-strict';
alter table log_heads add column policies bigint not null default 0; -- rises with every change of a policy, or of which is current

create table redaction_policies (
    workspace  text   not null,
    mode       text   not null,
    id         text   not null,               -- of the version
    name       text   not null,
    version    bigint not null,
    document   bytea,                         -- JSON, sealed; null says that the policy was deleted
    author     text   not null,               -- the API key
    created_at bigint not null,
    primary key (workspace, mode, id) );
create unique index redaction_policies_by_name on redaction_policies (workspace, mode, name, version);
/*postgres: alter table redaction_policies enable row level security; */
/*postgres: alter table redaction_policies force row level security; */
/*postgres: create policy tenant on redaction_policies using (workspace = any ((select hodl_scope())::text[])); */
