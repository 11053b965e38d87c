-- Other names of a note. Files that are already indexed are read again by the next update, which fills this in.
alter table documents add column aliases text not null default '[]';
update documents set source_hash = '', source_mtime_ns = 0 where source_size is not null and inactive is null;
