-- The front matter as written, so that a match in it is shown with its line.
-- The next update reads indexed files again to fill this column.
alter table documents add column front_matter text not null default '';
update documents set source_hash = '', source_mtime_ns = 0 where source_size is not null and inactive is null;
