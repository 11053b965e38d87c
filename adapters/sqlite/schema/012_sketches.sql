-- Sketches of lines by a model, one bit per dimension; a sketch is deleted with its line.
create table sketches (
    key    integer primary key,                      -- of the fragment
    sketch blob not null
);
create trigger sketch_gone after delete on fragments begin
    delete from sketches where key = old.key;
end;
