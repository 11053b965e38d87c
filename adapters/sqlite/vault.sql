-- The schema of a vault. Strict tables and checks of the vocabularies let SQLite's integrity check find senseless values.
-- Records come first; everything below "Derived" can be deleted and rebuilt from the records.

pragma application_id = 0x434c574d;                 -- "CLWM": distinguishes a vault from other SQLite files

create table meta (
    name  text primary key,
    value text not null
) strict, without rowid;
insert into meta values ('vault_id', lower(hex(randomblob(8))));

-- Documents ---------------------------------------------------------------------------------------------------

create table content (
    hash text primary key,                          -- SHA-256 of the body
    body text not null
) strict;

create table documents (
    id               integer primary key autoincrement,
    collection       text not null,
    path             text not null,
    title            text not null,
    hash             text not null references content (hash),
    first_hash       text not null default '',      -- begins with the docid; edits do not change it
    source_hash      text not null,
    authored_at      text not null,
    modified_at      text not null,
    indexed_at       text not null,
    content_type     text not null,
    confidence       real not null,
    tags             text not null default '[]' check (json_valid(tags)),
    aliases          text not null default '[]' check (json_valid(aliases)),
    front_matter     text not null default '',      -- as written, so that a match in it is shown with its line
    origin           text not null default 'user'
                     check (origin in ('user', 'assistant', 'model', 'tool_inside', 'shared', 'imported', 'tool_outside')),
    domain           text,
    workstream       text,
    review_by        text,
    pinned           integer not null default 0,
    pinned_in_note   integer not null default 0,    -- the pin that the note states itself
    snoozed_until    text,                          -- until then the document is not surfaced
    access_count     integer not null default 0,
    last_accessed_at text,
    revision_count   integer not null default 1,
    duplicate_count  integer not null default 1,
    body_line        integer not null default 1,
    body_length      integer not null default 0,
    source_size      integer,                       -- null: not from a file
    source_mtime_ns  integer,
    inactive         text                           -- null: served; else the reason why not
                     check (inactive in ('removed', 'archived', 'forgotten', 'superseded')),
    embed_state      text not null default 'pending' check (embed_state in ('pending', 'synced', 'failed')),
    unique (collection, path)
) strict;
create index documents_hash on documents (hash);
create index documents_first_hash on documents (first_hash);
create index documents_unembedded on documents (id) where inactive is null and embed_state <> 'synced';
create index documents_removed on documents (hash) where inactive = 'removed';
-- Lists and timelines are ordered by the time at which a note was written, not by the time of its file.
create index documents_chronology on documents (authored_at, id) where inactive is null;
create index documents_chronology_within on documents (collection, authored_at, id) where inactive is null;

-- key = document id * 2^20 + seq: the fragments of a document are one range, in reading order.
create table fragments (
    key        integer primary key,
    kind       text not null check (kind in ('document', 'section', 'passage', 'line', 'list', 'code', 'frontmatter')),
    start_line integer not null,
    end_line   integer not null,
    start      integer not null,
    "end"      integer not null,
    label      text not null,
    heading    text not null,
    context    text not null,                       -- embedded together with the text
    own_text   text,                                -- null: the body's characters start .. end
    text_hash  blob                                 -- null: never embedded; else the first 8 bytes of a SHA-256
) strict;
create index fragments_text on fragments (text_hash) where text_hash is not null;

-- Values that notes declare in their front matter and text, and their tags.
create table properties (
    document_id integer not null references documents (id) on delete cascade,
    seq         integer not null,
    name        text not null,
    value       text not null,
    key         text,                               -- the form for comparison, where it differs from the value
    primary key (document_id, seq)
) strict, without rowid;
create index properties_name on properties (name collate nocase, coalesce(key, value));

-- Notes that were generated about documents, in all versions; the highest version is current.
create table notes (
    document_id integer not null references documents (id) on delete cascade,
    version     integer not null,
    keywords    text not null,                      -- a JSON array, as tags
    tags        text not null,
    context     text not null,
    origin      text not null,                      -- rules, or the model that wrote it
    written_at  text not null,
    cause       integer,                            -- the document that let it be written anew
    reason      text not null default '',           -- in the words of the author
    primary key (document_id, version)
) strict, without rowid;
create index notes_cause on notes (cause) where cause is not null;

-- Enrichment state of each document: the hash of the source, and whether a model wrote the note.
create table enriched (
    document_id integer primary key references documents (id) on delete cascade,
    source_hash text not null,
    by_model    integer not null,
    failures    integer not null default 0          -- of a model, on this source
) strict;

-- Succession of documents as the notes state it: an address as written, and the path that it resolves to.
create table succession_claims (
    document_id integer not null references documents (id) on delete cascade,
    kind        text not null,                      -- supersedes, superseded_by, replaced_by
    address     text not null,
    collection  text not null,
    target      text not null,                      -- a path in that collection
    primary key (document_id, kind, address)
) strict, without rowid;
create index succession_claims_target on succession_claims (target, kind);

-- Links between notes as written, and the note that each leads to.
create table links (
    document_id integer not null references documents (id) on delete cascade,
    seq         integer not null,
    kind        text not null,                      -- wikilink, embed, markdown, block
    target      text not null,
    key         text not null,                      -- the last part of the target, folded
    line        integer not null,
    part        text not null,
    shown       text not null,
    context     text not null,                      -- the sentence around the link
    target_id   integer,                            -- null: broken
    primary key (document_id, seq)
) strict, without rowid;
create index links_target on links (target_id) where target_id is not null;
create index links_key on links (key);

-- Every name by which a link may mean a note.
create table note_names (
    key         text not null,
    document_id integer not null references documents (id) on delete cascade,
    kind        integer not null,
    primary key (key, document_id, kind)
) strict, without rowid;
create index note_names_document on note_names (document_id);

-- Notes whose change may have changed the meaning of links.
create table changed_notes (document_id integer primary key references documents (id) on delete cascade) strict;
create trigger changed_notes_update after update of inactive, collection, path on documents
  when (old.inactive, old.collection, old.path) is not (new.inactive, new.collection, new.path)
begin
    -- The conflict clause of an upsert would replace "or ignore" here.
    insert into changed_notes select new.id where new.id not in (select document_id from changed_notes);
end;

-- Lifecycle ---------------------------------------------------------------------------------------------------

-- Journal of acts on documents. No reference to documents: SQLite would check it for every act, without benefit.
create table acts (
    id          integer primary key autoincrement,
    document_id integer not null,
    act         text not null,                      -- pin, snooze, archive, forget, ...
    by          text not null,
    at          text not null,
    why         text not null default '',
    before      text not null default ''            -- what an undo puts back
) strict;
create index acts_document on acts (document_id, id);
create index acts_kind on acts (act, document_id, id);

-- Documents that replaced others; a restore brings the replaced documents back.
create table replacements (
    id          integer primary key autoincrement,
    document_id integer not null,
    why         text not null,
    at          text not null,
    undone_at   text not null default ''
) strict;
create index replacements_document on replacements (document_id);
create table replaced (
    replacement integer not null references replacements (id),
    document_id integer not null,
    primary key (replacement, document_id)
) strict, without rowid;
create index replaced_document on replaced (document_id);

-- What programs made from which documents, so that forgetting one finds every text that repeats it.
create table derivations (
    child  integer not null references documents (id) on delete cascade,
    parent integer not null references documents (id) on delete cascade,
    primary key (child, parent)
) strict, without rowid;
create index derivations_parent on derivations (parent);

-- Salted digests of forgotten bodies, to recognize an identical file. A digest does not reveal the body.
create table forgotten_texts (
    salt   text not null,                           -- the id of the vault that forgot it
    digest text not null,                           -- SHA-256 of "salt:body", with single blanks
    primary key (salt, digest)
) strict, without rowid;

-- Journal of maintenance runs, and the reasons of runs that did nothing. Counts are of documents.
create table maintenance_runs (
    id          integer primary key autoincrement,
    lane        text not null,
    phase       text not null,                      -- gate, consolidate, deductive
    status      text not null,
    started_at  text not null,
    reason      text not null default '',
    selected    integer not null default 0,
    processed   integer not null default 0,
    created     integer not null default 0,
    rejected    integer not null default 0,
    null_calls  integer not null default 0,
    metrics     text not null default '{}',         -- JSON
    finished_at text not null default ''            -- empty: under way, or killed
) strict;
create index maintenance_runs_lane on maintenance_runs (lane, id);

-- Tokens are random, so a released lease needs no row to remember its last token.
create table leases (
    name       text primary key,
    holder     text not null,
    token      text not null,
    expires_ms integer not null
) strict, without rowid;

-- Knowledge ---------------------------------------------------------------------------------------------------

-- The graph of relations between documents.
create table relations (
    source     integer not null references documents (id) on delete cascade,
    kind       text not null check (kind in (
        'semantic', 'causal', 'temporal', 'entity', 'supporting', 'contradicts', 'usage', 'links_to')),
    target     integer not null references documents (id) on delete cascade,
    weight     real not null check (weight > 0 and weight <= 1),
    origin     text not null default '',            -- who wrote it
    created_at text not null default '',
    metadata   text not null default '{}',
    primary key (source, kind, target),
    check (source <> target)
) strict, without rowid;
-- Strongest first from either end, so that a query reads only the beginning of a range of the index.
create index relations_outbound on relations (source, kind, weight desc, target);
create index relations_inbound on relations (target, kind, weight desc, source);

create table entities (
    key           integer primary key,
    id            text not null unique check (id <> ''),
    name          text not null,
    kind          text not null,
    mention_count integer not null default 0        -- by served documents
) strict;
create table mentions (
    document_id integer not null references documents (id),
    entity      integer not null references entities (key),
    primary key (document_id, entity)
) strict, without rowid;
create index mentions_entity on mentions (entity, document_id);

-- Facts about entities, each with the document that states it and the period of its validity.
create table triples (
    id          integer primary key,
    subject     integer not null references entities (key),
    predicate   text not null check (predicate <> ''),
    object      integer references entities (key),  -- null: a text of its own
    literal     text check (literal <> ''),
    document_id integer not null references documents (id) on delete cascade,
    valid_from  text not null check (valid_from = '' or valid_from is date(valid_from)),  -- a day; empty: since ever
    valid_to    text check (valid_to is null or valid_to is date(valid_to) and valid_to >= valid_from),  -- a day; null: it holds
    confidence  real not null check (confidence > 0 and confidence <= 1),
    said        text not null,                      -- the sentence that it comes from
    ended_by    integer references documents (id) on delete set null,
    check ((object is null) <> (literal is null))
) strict;
create unique index triples_stated
    on triples (document_id, subject, predicate, coalesce(object, literal)) where valid_to is null;
create index triples_document on triples (document_id);
create index triples_ended_by on triples (ended_by) where ended_by is not null;
-- Current facts by either end, the most confident and latest first, so that a query reads the beginning of a range.
create index triples_outgoing on triples (subject, valid_to, confidence desc, valid_from desc, id);
create index triples_incoming on triples (object, valid_to, confidence desc, valid_from desc, id);
-- An entity is deleted together with the last mention or fact that refers to it.
create trigger triple_gone after delete on triples begin
    delete from entities
     where key in (old.subject, old.object)
       and not exists (select 1 from mentions where entity = entities.key)
       and not exists (select 1 from triples where subject = entities.key)
       and not exists (select 1 from triples where object = entities.key);
end;

-- Sessions and captured memories ------------------------------------------------------------------------------

create table sessions (
    id            text primary key,
    started_at    text not null,
    ended_at      text,                             -- null: it goes on
    handoff_path  text,
    summary       text not null default '',
    files_changed text not null default '[]',
    machine       text not null default ''
) strict;
create index sessions_started on sessions (started_at desc, id);

-- Position of each reader in the transcript of a session.
create table capture_cursors (
    session_id text not null,
    reader     text not null,
    line       integer not null,                    -- lines that were read
    "offset"   integer not null,                    -- bytes that were read
    turns      integer not null,                    -- prompts among them
    primary key (session_id, reader)
) strict, without rowid;

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
) strict, without rowid;
create index sightings_payload on sightings (payload, content_type, seen_at);
create index sightings_document on sightings (document_id, seen_at);
create trigger sighting_counted after insert on sightings begin
    update documents
       set duplicate_count = (select count(*) from sightings where document_id = new.document_id)
     where id = new.document_id;
end;

-- Questions and their answers ---------------------------------------------------------------------------------

-- Of the text of a question only a fingerprint is stored.
create table recalls (
    id         integer primary key,
    asked_at   text not null,
    verb       text not null,                       -- search, vsearch, query, or a hook's name
    query_hash text not null,                       -- SHA-1 of the trimmed lower-case question, 12 hex digits
    took_ms    real not null,
    asked_for  integer not null,                    -- the limit
    degraded   text not null default '[]',          -- the retrievers that were missing
    session_id text,
    turn_index integer not null default 0,
    prompt_id  text not null default ''             -- the client's id, which identifies turns without counting them
) strict;
create index recalls_asked on recalls (asked_at);
create index recalls_session on recalls (session_id, asked_at);

-- Hits of a recall. No reference to documents: SQLite would check it for every query, without benefit.
create table recall_hits (
    recall_id      integer not null references recalls (id) on delete cascade,
    rank           integer not null,
    document_id    integer not null,
    score          real not null,
    was_referenced integer not null default 0,
    primary key (recall_id, rank)
) strict, without rowid;

-- Documents that were useful together; each pair once, with the smaller id first.
create table co_activations (
    one       integer not null,
    other     integer not null,
    count     integer not null,
    last_seen text not null,
    primary key (one, other)
) strict, without rowid;
create index co_activations_other on co_activations (other, one);

-- Explanation of a result, one per recall. It contains the words of the query, so it is trimmed earlier than the recall.
create table receipts (
    recall_id integer primary key references recalls (id) on delete cascade,
    asked_at  text not null,
    content   blob not null                         -- its writer's own, compressed
) strict;
create index receipts_asked on receipts (asked_at);

-- Cached answers of models, by a fingerprint of question, model and purpose.
create table model_answers (
    key     blob primary key,                       -- SHA-256 over model, purpose and question, 32 bytes
    purpose text not null,                          -- expansion, rerank, ...
    answer  text not null,
    kept_at text not null
) strict, without rowid;
create index model_answers_kept on model_answers (kept_at);

create table model_costs (
    day           text not null,
    model         text not null,
    purpose       text not null,
    calls         integer not null,
    failed        integer not null,
    prompt_tokens integer not null,
    answer_tokens integer not null,
    took_ms       integer not null,
    primary key (day, model, purpose)
) strict, without rowid;

-- Vectors -----------------------------------------------------------------------------------------------------

-- One embedding space serves, at most one is being built; vectors of a retired space are deleted step by step.
create table spaces (
    id          integer primary key autoincrement,
    fingerprint text not null,
    state       text not null,                      -- serving, building, retired
    reached     integer not null default 0,         -- building: the fragment up to which vectors were made in order
    dimensions  integer not null default 0          -- 0: no vector yet, and no table vectors_ID
) strict;
create unique index spaces_living on spaces (state) where state <> 'retired';

-- The texts whose vectors a space has. The vector is the row with the same id in the table vectors_ID of the space: a vec0
-- table, which is created with the first vector, because the number of dimensions is part of its definition.
create table texts (
    id    integer primary key,
    space integer not null references spaces (id),
    hash  blob not null,                            -- the text_hash of fragments
    checksum integer not null,                   -- CRC-32 of the vector, as vec0 has none
    unique (space, hash)
) strict;
create view embedded_texts as select hash from texts where space = (select id from spaces where state = 'serving');
create view building_texts as select hash from texts where space = (select id from spaces where state = 'building');

-- Texts that the model of the serving space, and of the space being built, could not embed.
create table embed_failures (
    state     text not null check (state in ('serving', 'building')),
    text_hash blob not null,
    attempts  integer not null,
    primary key (state, text_hash)
) strict, without rowid;

-- External indexes --------------------------------------------------------------------------------------------

create table indexes (
    generation  integer primary key autoincrement,
    role        text not null,                      -- lexical, vectors
    engine      text not null,
    state       text not null,                      -- building, serving
    since_seq   integer not null,
    since_epoch text not null,
    outdated    integer not null default 0          -- another model's vectors have replaced those in it
) strict;

-- The changes that indexes still have to apply. Triggers record them, so that every change of a record reaches the
-- indexes; without an index no change is recorded.
create table outbox (
    seq         integer primary key autoincrement,
    epoch       text not null default (lower(hex(randomblob(8)))),  -- tells histories apart that parted
    document_id integer not null,                   -- 0: where an index was registered
    is_text     integer not null                    -- 1: for every index; 0: vectors only
) strict;
create trigger outbox_saved after insert on documents
when exists (select 1 from indexes) begin
    insert into outbox (document_id, is_text) values (new.id, 1);
end;
create trigger outbox_changed after update of source_hash, inactive on documents
when exists (select 1 from indexes) begin
    insert into outbox (document_id, is_text) values (new.id, 1);
end;
create trigger outbox_embedded after insert on texts
when exists (select 1 from indexes) and new.space = (select id from spaces where state = 'serving') begin
    insert into outbox (document_id, is_text)
    select distinct key >> 20, 0 from fragments where text_hash = new.hash;
end;
create trigger outbox_unembedded after delete on texts
when exists (select 1 from indexes) and old.space = (select id from spaces where state = 'serving') begin
    insert into outbox (document_id, is_text)
    select distinct key >> 20, 0 from fragments where text_hash = old.hash;
end;

-- Derived: the lexical index, one table per granularity so that each has its own statistics. The tables store no text
-- (content=''), only words and positions. Ranking requires detail=full; otherwise bm25() returns -0.0. The first column
-- costs nothing for each of its words, the second one two bytes; most words are in the text.
create virtual table lexical_line using fts5 (
    text, title, content='', contentless_delete=1, detail=full, tokenize='porter unicode61 remove_diacritics 2'
);
create virtual table lexical_passage using fts5 (
    text, title, content='', contentless_delete=1, detail=full, tokenize='porter unicode61 remove_diacritics 2'
);
create virtual table lexical_document using fts5 (
    text, title, content='', contentless_delete=1, detail=full, tokenize='porter unicode61 remove_diacritics 2'
);

-- Derived: the words of the names of entities.
create virtual table entity_names using fts5 (
    name, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);
create trigger entity_named after insert on entities begin
    insert into entity_names (rowid, name) values (new.key, new.name);
end;
create trigger entity_unnamed after delete on entities begin
    delete from entity_names where rowid = old.key;
end;

-- Derived: each pair of entities that documents mention together, in both directions, so that the most frequent
-- companions of an entity are the beginning of an index range.
create table companions (
    entity    integer not null,
    companion integer not null,
    count     integer not null,
    primary key (entity, companion)
) strict, without rowid;
create index companions_frequent on companions (entity, count desc);

-- Triggers count the mentions by active documents, so that every change is counted.
create trigger mention_made after insert on mentions
when exists (select 1 from documents where id = new.document_id and inactive is null) begin
    update entities set mention_count = mention_count + 1 where key = new.entity;
    insert into companions
    select new.entity, entity, 1 from mentions where document_id = new.document_id and entity <> new.entity
    union all
    select entity, new.entity, 1 from mentions where document_id = new.document_id and entity <> new.entity
        on conflict do update set count = count + 1;
end;
create trigger mention_gone before delete on mentions
when exists (select 1 from documents where id = old.document_id and inactive is null) begin
    update entities set mention_count = mention_count - 1 where key = old.entity;
    update companions set count = count - 1
     where entity = old.entity
       and companion in (select entity from mentions where document_id = old.document_id);
    update companions set count = count - 1
     where companion = old.entity
       and entity in (select entity from mentions where document_id = old.document_id);
    delete from companions where entity = old.entity and count = 0;
    delete from companions
     where companion = old.entity and count = 0
       and entity in (select entity from mentions where document_id = old.document_id);
end;
create trigger mentions_withdrawn after update of inactive on documents
when old.inactive is null and new.inactive is not null begin
    update entities set mention_count = mention_count - 1
     where key in (select entity from mentions where document_id = new.id);
    update companions set count = count - 1
     where entity in (select entity from mentions where document_id = new.id)
       and companion in (select entity from mentions where document_id = new.id);
    delete from companions
     where count = 0 and entity in (select entity from mentions where document_id = new.id);
end;
create trigger mentions_restored after update of inactive on documents
when old.inactive is not null and new.inactive is null begin
    update entities set mention_count = mention_count + 1
     where key in (select entity from mentions where document_id = new.id);
    insert into companions
    select one.entity, other.entity, 1
      from mentions as one join mentions as other using (document_id)
     where document_id = new.id and one.entity <> other.entity
        on conflict do update set count = count + 1;
end;
create trigger mentions_purged before delete on documents begin
    delete from mentions where document_id = old.id;
end;
