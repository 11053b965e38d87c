-- Several models' vectors side by side: one space serves, at most one is made beside it, and of what was
-- replaced nobody sees anything any more until it is deleted.
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

-- All that is asked of vectors is asked of these: the space is not a question of the query, but of the view.
create view vectors as select text_hash, vector from space_vectors
 where space = (select id from spaces where state = 'serving');
create view beside_vectors as select text_hash, vector from space_vectors
 where space = (select id from spaces where state = 'building');

-- What the model of the building space could not read; `embed_failures` is about the serving one.
create table beside_failures (
    text_hash text primary key,
    attempts  integer not null,
    error     text not null
) without rowid;

-- An index of vectors that another model's have replaced; it is made anew.
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
