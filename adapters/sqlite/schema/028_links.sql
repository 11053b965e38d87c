-- Links between notes as written, and the note that each leads to.
create table links (
    document_id integer not null references documents (id) on delete cascade,
    seq         integer not null,
    kind        text not null,                      -- wikilink, embed, markdown, block
    target      text not null,
    key         text not null,                      -- the last part of the target, folded
    line        integer not null,
    part        text not null,
    shown       text not null,
    context     text not null,                      -- the sentence around the link
    target_id   integer,                            -- null: broken
    primary key (document_id, seq)
) without rowid;
create index links_target on links (target_id) where target_id is not null;
create index links_key on links (key);

-- Every name by which a link may mean a note.
create table note_names (
    key         text not null,
    document_id integer not null references documents (id) on delete cascade,
    kind        integer not null,
    primary key (key, document_id, kind)
) without rowid;
create index note_names_document on note_names (document_id);

-- Notes whose change may have changed the meaning of links.
create table changed_notes (document_id integer primary key references documents (id) on delete cascade);
create trigger changed_notes_update after update of inactive, collection, path on documents
  when (old.inactive, old.collection, old.path) is not (new.inactive, new.collection, new.path)
begin
    -- The conflict clause of an upsert would replace "or ignore" here.
    insert into changed_notes select new.id where new.id not in (select document_id from changed_notes);
end;
-- The next update reads indexed files again to fill these tables.
update documents set source_hash = '', source_mtime_ns = 0 where source_size is not null and inactive is null;
