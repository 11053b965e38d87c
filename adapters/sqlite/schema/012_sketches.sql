-- What a model makes of each line, a bit for each number: it goes with the line.
create table sketches (
    key    integer primary key,                      -- of the fragment
    sketch blob not null
);
create trigger sketch_gone after delete on fragments begin
    delete from sketches where key = old.key;
end;
