-- Work sessions, and the entities that documents mention.

create table sessions (
    id            text primary key,
    started_at    text not null,
    ended_at      text,                             -- null: it goes on
    handoff_path  text,
    summary       text not null default '',
    files_changed text not null default '[]',
    machine       text not null default ''
);
create index sessions_started on sessions (started_at desc, id);

create table entities (
    key           integer primary key,
    id            text not null unique,
    name          text not null,
    kind          text not null,
    mention_count integer not null default 0        -- by served documents
);
create virtual table entity_names using fts5 (
    name, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);
create trigger entity_named after insert on entities begin
    insert into entity_names (rowid, name) values (new.key, new.name);
end;
create trigger entity_unnamed after delete on entities begin
    delete from entity_names where rowid = old.key;
end;

create table mentions (
    document_id integer not null,
    entity      integer not null references entities (key),
    primary key (document_id, entity)
) without rowid;
create index mentions_entity on mentions (entity, document_id);

-- Each pair in both directions, so that the most frequent companions of an entity are the beginning of an index range.
create table companions (
    entity    integer not null,
    companion integer not null,
    count     integer not null,
    primary key (entity, companion)
) without rowid;
create index companions_frequent on companions (entity, count desc);

-- Triggers count the mentions by active documents, so that every change is counted.
create trigger mention_made after insert on mentions
when exists (select 1 from documents where id = new.document_id and inactive is null) begin
    update entities set mention_count = mention_count + 1 where key = new.entity;
    insert into companions
    select new.entity, entity, 1 from mentions where document_id = new.document_id and entity <> new.entity
    union all
    select entity, new.entity, 1 from mentions where document_id = new.document_id and entity <> new.entity
        on conflict do update set count = count + 1;
end;
create trigger mention_gone before delete on mentions
when exists (select 1 from documents where id = old.document_id and inactive is null) begin
    update entities set mention_count = mention_count - 1 where key = old.entity;
    update companions set count = count - 1
     where entity = old.entity
       and companion in (select entity from mentions where document_id = old.document_id);
    update companions set count = count - 1
     where companion = old.entity
       and entity in (select entity from mentions where document_id = old.document_id);
    delete from companions where entity = old.entity and count = 0;
    delete from companions
     where companion = old.entity and count = 0
       and entity in (select entity from mentions where document_id = old.document_id);
end;
create trigger mentions_withdrawn after update of inactive on documents
when old.inactive is null and new.inactive is not null begin
    update entities set mention_count = mention_count - 1
     where key in (select entity from mentions where document_id = new.id);
    update companions set count = count - 1
     where entity in (select entity from mentions where document_id = new.id)
       and companion in (select entity from mentions where document_id = new.id);
    delete from companions
     where count = 0 and entity in (select entity from mentions where document_id = new.id);
end;
create trigger mentions_restored after update of inactive on documents
when old.inactive is not null and new.inactive is null begin
    update entities set mention_count = mention_count + 1
     where key in (select entity from mentions where document_id = new.id);
    insert into companions
    select one.entity, other.entity, 1
      from mentions as one join mentions as other using (document_id)
     where document_id = new.id and one.entity <> other.entity
        on conflict do update set count = count + 1;
end;
create trigger mentions_purged before delete on documents begin
    delete from mentions where document_id = old.id;
end;

-- Documents in the order of their changes, over all documents and within a collection.
create index documents_chronology on documents (modified_at, id) where inactive is null;
create index documents_chronology_within on documents (collection, modified_at, id) where inactive is null;
