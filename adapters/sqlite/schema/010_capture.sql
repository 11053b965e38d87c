-- Position of each reader in the transcript of a session.
create table capture_cursors (
    session_id text not null,
    reader     text not null,
    line       integer not null,                    -- lines that were read
    "offset"   integer not null,                    -- bytes that were read
    turns      integer not null,                    -- prompts among them
    primary key (session_id, reader)
) without rowid;

-- Sources of captured memories. No reference to documents: when a document is deleted its sightings stay, and prevent
-- that the same source is captured again.
create table sightings (
    source       text primary key,                  -- names the sentence of one message
    document_id  integer not null,
    payload      text not null,                     -- names what is said, however it is set
    content_type text not null,
    origin       text not null,
    session_id   text not null,
    message_id   text not null,
    line         integer not null,
    quote        text not null,
    seen_at      text not null
) without rowid;
create index sightings_payload on sightings (payload, content_type, seen_at);
create index sightings_document on sightings (document_id, seen_at);
create trigger sighting_counted after insert on sightings begin
    update documents
       set duplicate_count = (select count(*) from sightings where document_id = new.document_id)
     where id = new.document_id;
end;

-- Documents that were useful together; each pair once, with the smaller id first.
create table co_activations (
    one       integer not null,
    other     integer not null,
    count     integer not null,
    last_seen text not null,
    primary key (one, other)
) without rowid;
create index co_activations_other on co_activations (other, one);

create index recalls_session on recalls (session_id, asked_at);

-- Number of times a document was surfaced, and number of times it was useful.
create table utility (
    document_id     integer primary key,
    surfaced        integer not null default 0,
    referenced      integer not null default 0,
    last_surfaced   text,
    last_referenced text
);
