-- The records of the vault. Everything below "Derived" can be deleted and rebuilt from the tables above it.

create table meta (
    name  text primary key,
    value text not null
) without rowid;

create table content (
    hash text primary key,                          -- SHA-256 of the body
    body text not null
);

create table documents (
    id               integer primary key autoincrement,
    collection       text not null,
    path             text not null,
    title            text not null,
    hash             text not null references content (hash),
    source_hash      text not null,
    authored_at      text not null,
    modified_at      text not null,
    indexed_at       text not null,
    content_type     text not null,
    confidence       real not null,
    quality_score    real not null,
    tags             text not null default '[]',
    domain           text,
    workstream       text,
    review_by        text,
    pinned           integer not null default 0,
    access_count     integer not null default 0,
    last_accessed_at text,
    revision_count   integer not null default 1,
    duplicate_count  integer not null default 1,
    body_line        integer not null default 1,
    body_length      integer not null default 0,
    source_size      integer,                       -- null: not from a file
    source_mtime_ns  integer,
    inactive         text,                          -- null: served; else the reason why not
    embed_state      text not null default 'pending',
    unique (collection, path)
);
create index documents_hash on documents (hash);
create index documents_modified on documents (modified_at desc) where inactive is null;
create index documents_unembedded on documents (id) where inactive is null and embed_state <> 'synced';

-- key = document id * 2^20 + seq: the fragments of a document are one range, in reading order.
create table fragments (
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
    text_hash  text                                 -- null: never embedded
);
create index fragments_text on fragments (text_hash) where text_hash is not null;

-- The canonical vectors, by the hash of the embedded text, each with the model that made it.
create table models (
    id          integer primary key,
    fingerprint text not null unique
);
create table vectors (
    id        integer primary key,
    text_hash text not null unique,
    model     integer not null references models (id),
    vector    blob not null                         -- little-endian float32, unit length
);
create table embed_failures (
    text_hash text primary key,
    attempts  integer not null,
    error     text not null
) without rowid;

create table leases (
    name       text primary key,
    holder     text not null,
    token      integer not null,
    expires_ms integer not null
) without rowid;

-- Derived: the lexical index, one table per granularity so that each has its own statistics. The tables store no text
-- (content=''), only words and positions. Ranking requires detail=full; otherwise bm25() returns -0.0.
create virtual table lexical_line using fts5 (
    title, text, content='', contentless_delete=1, detail=full, tokenize='porter unicode61 remove_diacritics 2'
);
create virtual table lexical_passage using fts5 (
    title, text, content='', contentless_delete=1, detail=full, tokenize='porter unicode61 remove_diacritics 2'
);
create virtual table lexical_section using fts5 (
    title, text, content='', contentless_delete=1, detail=full, tokenize='porter unicode61 remove_diacritics 2'
);
create virtual table lexical_document using fts5 (
    title, text, content='', contentless_delete=1, detail=full, tokenize='porter unicode61 remove_diacritics 2'
);
