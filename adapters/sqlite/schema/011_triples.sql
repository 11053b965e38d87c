-- Facts about entities, each with the document that states it and the period of its validity.
create table triples (
    id          integer primary key,
    subject     integer not null references entities (key),
    predicate   text not null,
    object      integer references entities (key),   -- null: a text of its own
    literal     text,
    document_id integer not null references documents (id) on delete cascade,
    valid_from  text not null,                       -- a day; empty: since ever
    valid_to    text,                                -- a day; null: it holds
    confidence  real not null,
    said        text not null,                       -- the sentence that it comes from
    check ((object is null) <> (literal is null))
);
create unique index triples_stated
    on triples (document_id, subject, predicate, coalesce(object, literal)) where valid_to is null;
create index triples_document on triples (document_id);
-- Current facts by either end, the most confident and latest first, so that a query reads the beginning of a range.
create index triples_outgoing on triples (subject, valid_to, confidence desc, valid_from desc, id);
create index triples_incoming on triples (object, valid_to, confidence desc, valid_from desc, id);

-- An entity is deleted together with the last mention or fact that refers to it.
create trigger triple_gone after delete on triples begin
    delete from entities
     where key in (old.subject, old.object)
       and not exists (select 1 from mentions where entity = entities.key)
       and not exists (select 1 from triples where subject = entities.key)
       and not exists (select 1 from triples where object = entities.key);
end;
