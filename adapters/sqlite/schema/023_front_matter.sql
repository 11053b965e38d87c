-- The front matter as it is written, so that a match in it is shown with its line.
-- Files that are already indexed are read again by the next update, which fills this in.
alter table documents add column front_matter text not null default '';
update documents set source_hash = '', source_mtime_ns = 0 where source_size is not null and inactive is null;
