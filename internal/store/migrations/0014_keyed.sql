-- Hydrations of a session that an API key made, without a resume token.
alter table sessions add column by_key bigint not null default 0;
