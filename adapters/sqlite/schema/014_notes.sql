-- Notes that were generated about documents, in all versions; the highest version is current.
create table notes (
    document_id integer not null references documents (id) on delete cascade,
    version     integer not null,
    keywords    text not null,                       -- a JSON array, as tags
    tags        text not null,
    context     text not null,
    origin      text not null,                       -- rules, or the model that wrote it
    written_at  text not null,
    cause       integer,                             -- the document that let it be written anew
    primary key (document_id, version)
) without rowid;
create index notes_cause on notes (cause) where cause is not null;

-- Enrichment state of each document: the hash of the source, and whether a model wrote the note.
create table enriched (
    document_id integer primary key references documents (id) on delete cascade,
    source_hash text not null,
    by_model    integer not null,
    failures    integer not null default 0,          -- of a model, on this source
    error       text
);

-- Costs of model calls.
create table model_costs (
    day           text not null,
    model         text not null,
    purpose       text not null,
    calls         integer not null,
    failed        integer not null,
    prompt_tokens integer not null,
    answer_tokens integer not null,
    took_ms       integer not null,
    primary key (day, model, purpose)
) without rowid;
