-- The graph of relations between documents.
create table relations (
    source     integer not null references documents (id) on delete cascade,
    kind       text not null,                       -- semantic, causal, temporal, entity, supporting, …
    target     integer not null references documents (id) on delete cascade,
    weight     real not null,                       -- (0, 1]
    origin     text not null default '',            -- who wrote it
    created_at text not null default '',
    metadata   text not null default '{}',
    primary key (source, kind, target)
) without rowid;
-- Strongest first from either end, so that a query reads only the beginning of a range of the index.
create index relations_outbound on relations (source, kind, weight desc, target);
create index relations_inbound on relations (target, kind, weight desc, source);
