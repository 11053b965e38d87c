-- Lists and timelines are ordered by the time at which a note was written, not by the time of its file.
drop index documents_modified;
drop index documents_chronology;
drop index documents_chronology_within;
create index documents_authored on documents (authored_at desc) where inactive is null;
create index documents_chronology on documents (authored_at, id) where inactive is null;
create index documents_chronology_within on documents (collection, authored_at, id) where inactive is null;
