-- Every table that holds a tenant's data has the workspace first in its key.
-- Times are Unix microseconds, UTC; 0 means never. One text for both engines, but
-- for the mark behind some tables: there SQLite keeps rows in the order of their
-- key, which spares the writer a second tree for each row.

create table installation (
    id         bigint not null primary key, -- always 1: what is fixed at first start
    issuer     text   not null,
    log_origin text   not null,
    created_at bigint not null );

create table signing_keys (
    kid          text   not null primary key, -- RFC 7638 thumbprint
    public       bytea  not null,
    seed         bytea  not null,             -- sealed under the master key
    created_at   bigint not null,
    signs_from   bigint not null,
    signs_until  bigint not null,             -- 0 while nothing follows it
    served_until bigint not null );

create table workspaces (
    workspace  text   not null primary key,
    name       text   not null unique,
    plan       text   not null,
    created_at bigint not null );

create table data_keys (
    workspace  text   not null references workspaces (workspace),
    version    bigint not null,
    wrapped    bytea  not null,               -- under the master key
    created_at bigint not null,
    primary key (workspace, version) ) /*sqlite: without rowid */;

create table members (
    workspace  text   not null references workspaces (workspace),
    id         text   not null,
    name       text   not null,
    role       text   not null,
    created_at bigint not null,
    primary key (workspace, id) );

create table api_keys (
    workspace    text   not null,
    id           text   not null,
    member       text   not null,
    mode         text   not null,
    name         text   not null,
    digest       bytea  not null unique,      -- SHA-256 of the key
    last_four    text   not null,
    scopes       text   not null,             -- space-separated
    created_at   bigint not null,
    last_used_at bigint not null default 0,
    revoked_at   bigint not null default 0,
    primary key (workspace, id),
    foreign key (workspace, member) references members (workspace, id) );

create table hodls (
    workspace  text   not null,
    mode       text   not null,
    member     text   not null,
    id         text   not null,
    url        text   not null,
    title      text   not null,
    note       text   not null,
    tags       text   not null,               -- JSON array
    source     text   not null,
    location   text   not null,               -- JSON without the selected text; '' when none
    selection  bytea,                         -- the selected text, sealed
    session    text   not null,               -- '' when none
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint not null default 0,
    primary key (workspace, mode, member, id) );
create index hodls_by_session on hodls (workspace, mode, session, id) where session <> '';

create table sessions (
    workspace   text   not null,
    mode        text   not null,
    id          text   not null,
    member      text   not null,
    head        bytea  not null,              -- title, summary and tags, sealed
    state       text   not null,
    fingerprint text   not null,              -- the current version
    captured_at bigint not null,
    created_at  bigint not null,
    updated_at  bigint not null,
    primary key (workspace, mode, id) ) /*sqlite: without rowid */;
create index sessions_by_member on sessions (workspace, mode, member, captured_at, id);

create table session_versions (
    workspace   text   not null,
    mode        text   not null,
    session     text   not null,
    fingerprint text   not null,
    captured_at bigint not null,
    author      text   not null,
    body        bytea  not null,              -- the content, sealed
    primary key (workspace, mode, session, fingerprint) );

create table tokens (
    workspace        text   not null,
    mode             text   not null,
    id               text   not null,
    session          text   not null,
    member           text   not null,
    api_key          text   not null,
    audience         text   not null,
    scopes           text   not null,         -- space-separated
    redaction_policy text   not null,
    max_hydrations   bigint not null,
    hydrations       bigint not null default 0,
    issued_at        bigint not null,
    expires_at       bigint not null,
    revoked_at       bigint not null default 0,
    revoke_reason    text   not null default '',
    primary key (workspace, mode, id) ) /*sqlite: without rowid */;
create index tokens_by_session on tokens (workspace, mode, session, id);
create index tokens_by_member on tokens (workspace, mode, member, id);

create table usage (
    workspace  text   not null,
    mode       text   not null,
    month      text   not null,               -- 2026-11, UTC
    hydrations bigint not null,
    primary key (workspace, mode, month) ) /*sqlite: without rowid */;

-- The next place in each log. Whoever appends takes this row first, so that a
-- (workspace, mode) has one writer at a time and its log no gap.
create table log_heads (
    workspace text   not null,
    mode      text   not null,
    size      bigint not null,
    primary key (workspace, mode) ) /*sqlite: without rowid */;

create table access_records (
    workspace  text   not null,
    mode       text   not null,
    seq        bigint not null,               -- gapless from 0
    id         text   not null,
    kind       text   not null,
    member     text   not null,               -- whose session it is
    session    text   not null,               -- '' when none
    jti        text   not null,               -- '' when none
    actor      text   not null,
    at         bigint not null,
    body       text   not null,               -- the record, canonical JSON (RFC 8785)
    commitment bytea  not null,               -- SHA-256 of a label, the salt and the body
    primary key (workspace, mode, seq) ) /*sqlite: without rowid */;
-- Ids sort by time, so one index finds a record and lists a person's records.
create unique index access_records_by_id on access_records (workspace, mode, member, id);
create index access_records_by_session on access_records (workspace, mode, session, id);

-- The erasable half: without the salt a commitment tells nothing.
create table access_details (
    workspace  text   not null,
    mode       text   not null,
    seq        bigint not null,
    salt       bytea  not null,
    address    text   not null,
    user_agent text   not null,
    primary key (workspace, mode, seq) ) /*sqlite: without rowid */;

create table outbox (
    workspace text   not null,
    id        text   not null,
    mode      text   not null,
    type      text   not null,
    session   text   not null,
    jti       text   not null,
    at        bigint not null,
    primary key (workspace, id) ) /*sqlite: without rowid */;
