-- A heading and a context are stored once for each document, and a hash of a text takes 8 bytes instead of 32.
drop trigger sketch_gone;
drop trigger outbox_embedded;
drop trigger outbox_embedded_again;
drop trigger outbox_unembedded;
drop view vectors;
drop view beside_vectors;

-- A column without a type keeps a heading that is a number as a text.
create table shorter_fragments (
    key        integer primary key,
    kind       text not null,
    start_line integer not null,
    end_line   integer not null,
    start      integer not null,
    "end"      integer not null,
    label      text not null,
    heading    not null,                            -- integer: that of the fragment with this seq, the first one
    context    not null,                            -- the same
    own_text   text,                                -- null: the body's characters start .. end
    text_hash  blob                                 -- null: never embedded
);
insert into shorter_fragments
select key, kind, start_line, end_line, start, "end", label,
       iif(heading = '' or headed = key, heading, headed & 1048575),
       iif(context = '' or described = key, context, described & 1048575),
       own_text, substr(text_hash, 1, 8)
  from (select *, min(key) over (partition by key >> 20, heading) as headed,
                  min(key) over (partition by key >> 20, context) as described from fragments)
 order by key;
drop table fragments;
alter table shorter_fragments rename to fragments;
create index fragments_text on fragments (text_hash) where text_hash is not null;
create index fragments_speaker on fragments (key, label) where kind = 'line' and label <> '';
create trigger sketch_gone after delete on fragments begin
    delete from sketches where key = old.key;
end;

-- The ids are never reused: the entries of the vector index name them.
create table shorter_vectors (
    id        integer primary key autoincrement,
    space     integer not null references spaces (id),
    text_hash blob not null,
    vector    blob not null,                        -- little-endian int16, unit length times 32767
    unique (space, text_hash)
);
insert or ignore into shorter_vectors select id, space, substr(text_hash, 1, 8), vector from space_vectors order by id;
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

update or ignore embed_failures set text_hash = substr(text_hash, 1, 8);
update or ignore beside_failures set text_hash = substr(text_hash, 1, 8);
