-- Journal of maintenance runs, and the reasons of runs that did nothing. Counts are of documents.
create table maintenance_runs (
    id          integer primary key autoincrement,
    lane        text not null,
    phase       text not null,                       -- gate, consolidate, deductive
    status      text not null,
    started_at  text not null,
    reason      text not null default '',
    selected    integer not null default 0,
    processed   integer not null default 0,
    created     integer not null default 0,
    rejected    integer not null default 0,
    null_calls  integer not null default 0,
    metrics     text not null default '{}',          -- JSON
    finished_at text not null default ''             -- empty: under way, or killed
);
create index maintenance_runs_lane on maintenance_runs (lane, id);

-- Documents that replaced others; a restore brings the replaced documents back.
create table replacements (
    id          integer primary key autoincrement,
    document_id integer not null,
    why         text not null,
    at          text not null,
    undone_at   text not null default ''
);
create index replacements_document on replacements (document_id);
create table replaced (
    replacement integer not null references replacements (id),
    document_id integer not null,
    primary key (replacement, document_id)
) without rowid;
create index replaced_document on replaced (document_id);
