-- place orders hodls by the millisecond of their capture, and within one by their
-- arrival: the order of the word index, so that a search for the newest stops early.
create table hodls_placed (
    place      integer not null primary key,  -- milliseconds since 1970 << 20, plus a number
    workspace  text    not null,
    mode       text    not null,
    member     text    not null,
    id         text    not null,
    url        text    not null,
    title      text    not null,
    note       text    not null,
    tags       text    not null,              -- JSON array
    source     text    not null,
    location   text    not null,              -- JSON without the selected text; '' when none
    selection  blob,                          -- the selected text, sealed
    session    text    not null,              -- '' when none
    created_at integer not null,
    updated_at integer not null,
    deleted_at integer not null default 0,
    known      blob    not null default x'',  -- digest of what makes two hodls the same; empty while it is not indexed
    unique (workspace, mode, member, id) );
insert into hodls_placed select ((created_at / 1000) << 20) + row_number() over (partition by created_at / 1000 order by id) - 1,
    workspace, mode, member, id, url, title, note, tags, source, location, selection, session, created_at, updated_at, deleted_at, x'' from hodls;
drop table hodls;
alter table hodls_placed rename to hodls;
create index hodls_by_session on hodls (workspace, mode, session, id) where session <> '';
create index hodls_by_known on hodls (workspace, mode, member, known);
create index hodls_with_chores on hodls (workspace, deleted_at) where deleted_at > 0 or known = x'';

-- The words of each hodl, under its place. Only the index is kept of them. What is
-- in it has been cut into words already: the tokenizer parts them at spaces.
create virtual table hodl_words using fts5 (
    url, repository, file, text, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'" );

create table hodl_tags (
    workspace text    not null,
    mode      text    not null,
    member    text    not null,
    tag       text    not null,
    hodls     integer not null,               -- how many carry it
    primary key (workspace, mode, member, tag) ) without rowid;
