-- How answers came about, one a recall. Unlike the recall it holds the question's words: it goes earlier.
create table receipts (
    recall_id integer primary key references recalls (id) on delete cascade,
    asked_at  text not null,
    content   blob not null                         -- its writer's own, compressed
);
create index receipts_asked on receipts (asked_at);
