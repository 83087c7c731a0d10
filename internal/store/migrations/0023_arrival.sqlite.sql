-- SQLite writes whole pages. Rows that lie in order of arrival share them, whosever they
-- are; kept in the order of a key that begins with the workspace, each workspace has a
-- page of its own to change. The key of a session stays, as an index of short entries;
-- events are a queue, and have only their place in it.
create table sessions_arrived (
    workspace       text    not null,
    mode            text    not null,
    id              text    not null,
    member          text    not null,
    head            blob    not null,         -- title, summary and tags, sealed
    state           text    not null,
    fingerprint     text    not null,         -- the current version
    captured_at     integer not null,
    created_at      integer not null,
    updated_at      integer not null,
    hour            integer not null default 0,
    hour_hydrations integer not null default 0,
    by_key          integer not null default 0,
    primary key (workspace, mode, id) );
insert into sessions_arrived select workspace, mode, id, member, head, state, fingerprint, captured_at, created_at, updated_at, hour, hour_hydrations, by_key
    from sessions order by id;
drop table sessions;
alter table sessions_arrived rename to sessions;
create index sessions_by_member on sessions (workspace, mode, member, captured_at, id);

create table outbox_arrived (
    place     integer not null primary key,
    workspace text    not null,
    id        text    not null,
    mode      text    not null,
    type      text    not null,
    session   text    not null,
    jti       text    not null,
    at        integer not null );
insert into outbox_arrived (workspace, id, mode, type, session, jti, at) select workspace, id, mode, type, session, jti, at from outbox order by id;
drop table outbox;
alter table outbox_arrived rename to outbox;

-- The index of words is merged by the writer, a little with each batch, instead of
-- much with one in fifty.
insert into hodl_words (hodl_words, rank) values ('automerge', 0);
insert into hodl_words (hodl_words, rank) values ('usermerge', 8);
