-- Reason why a note was rewritten, in the words of its author; and the document that ended a fact.
alter table notes add column reason text not null default '';

alter table triples add column ended_by integer references documents (id) on delete set null;
create index triples_ended_by on triples (ended_by) where ended_by is not null;
