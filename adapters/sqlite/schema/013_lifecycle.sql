-- Time until which a document is not surfaced.
alter table documents add column snoozed_until text;

-- Journal of acts on documents. No reference to documents: SQLite would check it for every act, without benefit.
create table acts (
    id          integer primary key autoincrement,
    document_id integer not null,
    act         text not null,                       -- pin, snooze, archive, forget, ...
    by          text not null,
    at          text not null,
    why         text not null default '',
    before      text not null default ''             -- what an undo puts back
);
create index acts_document on acts (document_id, id);
create index acts_kind on acts (act, document_id, id);
