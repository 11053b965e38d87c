-- Statistics about the recalls of a document, recomputed from the stored recalls.
create table recall_stats (
    document_id integer primary key,
    recalls     integer not null,
    queries     integer not null,                    -- different ones
    days        integer not null,                    -- different ones
    negatives   integer not null,                    -- times that it was of no use
    first_at    text not null,
    last_at     text not null,
    diversity   real not null,
    spacing     real not null
);
