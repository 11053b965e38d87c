-- Aliases of a note. The next update reads indexed files again to fill this column.
alter table documents add column aliases text not null default '[]';
update documents set source_hash = '', source_mtime_ns = 0 where source_size is not null and inactive is null;
