-- External indexes, and the changes that they still have to apply. Without an index no change is recorded.

create table indexes (
    generation  integer primary key autoincrement,
    role        text not null,                      -- lexical, vectors
    engine      text not null,
    state       text not null,                      -- building, serving
    since_seq   integer not null,
    since_epoch text not null,
    built_to    integer not null default 0          -- documents up to this id are in it
);

create table outbox (
    seq         integer primary key autoincrement,
    epoch       text not null default (lower(hex(randomblob(8)))),  -- tells histories apart that parted
    document_id integer not null,                   -- 0: where an index was registered
    is_text     integer not null                    -- 1: for every index; 0: vectors only
);

-- Triggers record the changes, so that every change of a record reaches the indexes.
create trigger outbox_saved after insert on documents
when exists (select 1 from indexes) begin
    insert into outbox (document_id, is_text) values (new.id, 1);
end;
create trigger outbox_changed after update of source_hash, inactive on documents
when exists (select 1 from indexes) begin
    insert into outbox (document_id, is_text) values (new.id, 1);
end;
create trigger outbox_embedded after insert on vectors
when exists (select 1 from indexes) begin
    insert into outbox (document_id, is_text)
    select distinct key >> 20, 0 from fragments where text_hash = new.text_hash;
end;
create trigger outbox_embedded_again after update on vectors
when exists (select 1 from indexes) begin
    insert into outbox (document_id, is_text)
    select distinct key >> 20, 0 from fragments where text_hash = new.text_hash;
end;
create trigger outbox_unembedded after delete on vectors
when exists (select 1 from indexes) begin
    insert into outbox (document_id, is_text)
    select distinct key >> 20, 0 from fragments where text_hash = old.text_hash;
end;
