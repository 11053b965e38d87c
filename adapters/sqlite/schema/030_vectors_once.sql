-- A hash of a text takes 32 bytes instead of 64 characters, in four places of each vector.
drop trigger sketch_gone;
drop trigger outbox_embedded;
drop trigger outbox_embedded_again;
drop trigger outbox_unembedded;
drop view vectors;
drop view beside_vectors;

create table smaller_fragments (
    key        integer primary key,
    kind       text not null,
    start_line integer not null,
    end_line   integer not null,
    start      integer not null,
    "end"      integer not null,
    label      text not null,
    heading    text not null,
    context    text not null,
    own_text   text,                                -- null: the body's characters start .. end
    text_hash  blob                                 -- null: never embedded
);
insert into smaller_fragments
select key, kind, start_line, end_line, start, "end", label, heading, context, own_text, unhex(text_hash) from fragments;
drop table fragments;
alter table smaller_fragments rename to fragments;
create index fragments_text on fragments (text_hash) where text_hash is not null;
create index fragments_speaker on fragments (key, label) where kind = 'line' and label <> '';
create trigger sketch_gone after delete on fragments begin
    delete from sketches where key = old.key;
end;

-- The ids are never reused: the entries of the vector index name them.
create table smaller_vectors (
    id        integer primary key autoincrement,
    space     integer not null references spaces (id),
    text_hash blob not null,
    vector    blob not null,                        -- little-endian float32, unit length
    unique (space, text_hash)
);
insert into smaller_vectors
select id, space, unhex(text_hash), vector from space_vectors where unhex(text_hash) is not null;
drop table space_vectors;
alter table smaller_vectors rename to space_vectors;
create view vectors as select text_hash, vector from space_vectors
 where space = (select id from spaces where state = 'serving');
create view beside_vectors as select text_hash, vector from space_vectors
 where space = (select id from spaces where state = 'building');

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

create table failures (
    text_hash blob primary key,
    attempts  integer not null,
    error     text not null
) without rowid;
insert into failures select unhex(text_hash), attempts, error from embed_failures where unhex(text_hash) is not null;
drop table embed_failures;
alter table failures rename to embed_failures;
create table failures (
    text_hash blob primary key,
    attempts  integer not null,
    error     text not null
) without rowid;
insert into failures select unhex(text_hash), attempts, error from beside_failures where unhex(text_hash) is not null;
drop table beside_failures;
alter table failures rename to beside_failures;

-- Derived: the entries of the vector index. An entry names the record of its vector, so that each vector is stored once.
create table vector_entries (
    key    integer primary key,                     -- of the fragment
    record integer,                                 -- id in space_vectors
    vector blob                                     -- only where no record has it
);
insert into vector_entries (key, record)
select fragments.key, space_vectors.id
  from fragments cross join space_vectors
 where space_vectors.text_hash = fragments.text_hash
   and space_vectors.space = (select id from spaces where state = 'serving')
   and fragments.key >> 20 in (select id from documents where inactive is null)
   and not exists (select 1 from indexes where role = 'vectors' and state = 'serving')
 order by fragments.key;
drop table if exists vector_scan;
delete from meta where name in ('vector_table', 'vec0_content');
