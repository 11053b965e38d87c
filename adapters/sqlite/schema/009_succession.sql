-- Succession of documents as stated in the documents: by path, resolved by each query.
create table succession_claims (
    document_id integer not null references documents (id) on delete cascade,
    kind        text not null,                      -- supersedes, superseded_by
    path        text not null,
    primary key (document_id, kind, path)
) without rowid;
create index succession_claims_path on succession_claims (path, kind);
create index documents_removed on documents (hash) where inactive = 'removed';

-- The pin that a note states itself is stored next to the pin that a user decided.
alter table documents add column pinned_in_note integer not null default 0;

-- Front matter was indexed before it had this effect, so the next update reads files with front matter again.
update documents set source_hash = '', source_mtime_ns = 0 where body_line > 1 and source_size is not null;
