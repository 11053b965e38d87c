-- Vectors of several models: one embedding space serves, at most one is being built, and the vectors of a replaced
-- space are not used any more and are deleted step by step.
create table spaces (
    id          integer primary key autoincrement,
    fingerprint text not null,
    state       text not null,                      -- serving, building, retired
    reached     integer not null default 0          -- building: the fragment up to which vectors were made in order
);
create unique index spaces_living on spaces (state) where state <> 'retired';

create table space_vectors (
    id        integer primary key,
    space     integer not null references spaces (id),
    text_hash text not null,
    vector    blob not null,                        -- little-endian float32, unit length
    unique (space, text_hash)
);

insert into spaces (id, fingerprint, state)
select id, fingerprint, 'serving' from models where id = (select model from vectors limit 1);
insert into space_vectors (space, text_hash, vector)
select model, text_hash, vector from vectors where model in (select id from spaces) order by id;
drop table vectors;
drop table models;

-- All queries for vectors read these views, which select the embedding space.
create view vectors as select text_hash, vector from space_vectors
 where space = (select id from spaces where state = 'serving');
create view beside_vectors as select text_hash, vector from space_vectors
 where space = (select id from spaces where state = 'building');

-- Texts that the model of the space being built could not embed; `embed_failures` is about the serving space.
create table beside_failures (
    text_hash text primary key,
    attempts  integer not null,
    error     text not null
) without rowid;

-- An index of vectors that another model's vectors have replaced; it must be rebuilt.
alter table indexes add column outdated integer not null default 0;

create trigger outbox_embedded after insert on space_vectors
when exists (select 1 from indexes) and new.space = (select id from spaces where state = 'serving') begin
    insert into outbox (document_id, is_text)
    select distinct key >> 20, 0 from fragments where text_hash = new.text_hash;
end;
create trigger outbox_embedded_again after update on space_vectors
when exists (select 1 from indexes) and new.space = (select id from spaces where state = 'serving') begin
    insert into outbox (document_id, is_text)
    select distinct key >> 20, 0 from fragments where text_hash = new.text_hash;
end;
create trigger outbox_unembedded after delete on space_vectors
when exists (select 1 from indexes) and old.space = (select id from spaces where state = 'serving') begin
    insert into outbox (document_id, is_text)
    select distinct key >> 20, 0 from fragments where text_hash = old.text_hash;
end;
