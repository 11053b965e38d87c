-- Explanation of a result, one per recall. It contains the words of the query, so it is trimmed earlier than the recall.
create table receipts (
    recall_id integer primary key references recalls (id) on delete cascade,
    asked_at  text not null,
    content   blob not null                         -- its writer's own, compressed
);
create index receipts_asked on receipts (asked_at);
