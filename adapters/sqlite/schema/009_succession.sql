-- Which document holds instead of which, as the documents say themselves: by path, looked up when it is asked for.
create table succession_claims (
    document_id integer not null references documents (id) on delete cascade,
    kind        text not null,                      -- supersedes, superseded_by
    path        text not null,
    primary key (document_id, kind, path)
) without rowid;
create index succession_claims_path on succession_claims (path, kind);
create index documents_removed on documents (hash) where inactive = 'removed';

-- What a note says of itself stands beside what was decided about it (pinned).
alter table documents add column pinned_in_note integer not null default 0;

-- Heads were read when this had no effect: the next pass over the files reads those that have one again.
update documents set source_hash = '', source_mtime_ns = 0 where body_line > 1 and source_size is not null;
