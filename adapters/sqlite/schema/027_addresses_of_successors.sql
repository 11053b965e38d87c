-- A claim is an address as written in the note, and the path that the address resolves to.
create table succession_addresses (
    document_id integer not null references documents (id) on delete cascade,
    kind        text not null,                      -- supersedes, superseded_by
    address     text not null,
    collection  text not null,
    target      text not null,                      -- a path in that collection
    primary key (document_id, kind, address)
) without rowid;
insert into succession_addresses
     select claim.document_id, claim.kind, claim.path, documents.collection, claim.path
       from succession_claims as claim join documents on documents.id = claim.document_id;
drop table succession_claims;
alter table succession_addresses rename to succession_claims;
create index succession_claims_target on succession_claims (target, kind);
