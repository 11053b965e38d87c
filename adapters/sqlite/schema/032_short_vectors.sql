-- A number of a vector takes 16 bits instead of 32: scores change by less than .0001, and the vectors take half the space.
drop view vectors;
drop view beside_vectors;

-- The ids are never reused: the entries of the vector index name them.
create table shorter_vectors (
    id        integer primary key autoincrement,
    space     integer not null references spaces (id),
    text_hash blob not null,
    vector    blob not null,                        -- little-endian int16, unit length times 32767
    unique (space, text_hash)
);
insert into shorter_vectors select id, space, text_hash, shortened(vector) from space_vectors;
-- The highest id that was ever given, which a deleted vector may have had.
insert or replace into sqlite_sequence (rowid, name, seq)
select (select rowid from sqlite_sequence where name = 'shorter_vectors'), 'shorter_vectors', seq
  from sqlite_sequence where name = 'space_vectors';
drop table space_vectors;
alter table shorter_vectors rename to space_vectors;
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

update vector_entries set vector = shortened(vector) where vector is not null;
