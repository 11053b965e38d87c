-- Queries and their verbs. Of the query text only a fingerprint is stored.
create table recalls (
    id         integer primary key,
    asked_at   text not null,
    verb       text not null,                       -- search, vsearch, query, or a hook's name
    query_hash text not null,                       -- SHA-1 of the trimmed lower-case question, 12 hex digits
    took_ms    real not null,
    asked_for  integer not null,                    -- the limit
    degraded   text not null default '[]',          -- the legs that were missing
    session_id text,
    turn_index integer not null default 0
);
create index recalls_asked on recalls (asked_at);

-- Hits of a recall. No reference to documents: SQLite would check it for every query, without benefit.
create table recall_hits (
    recall_id      integer not null references recalls (id) on delete cascade,
    rank           integer not null,
    document_id    integer not null,
    score          real not null,
    was_referenced integer not null default 0,
    primary key (recall_id, rank)
) without rowid;
