-- Values that notes declare in their front matter and text, and their tags.
create table properties (
    document_id integer not null references documents (id) on delete cascade,
    seq         integer not null,
    name        text not null,
    value       text not null,
    key         text,                               -- the form for comparison, where it differs from the value
    primary key (document_id, seq)
) without rowid;
create index properties_name on properties (name collate nocase, coalesce(key, value));
-- The next update reads indexed files again to fill the table.
update documents set source_hash = '', source_mtime_ns = 0 where source_size is not null and inactive is null;
