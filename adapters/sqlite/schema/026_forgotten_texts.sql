-- Marks of forgotten bodies, by which an identical file is recognised. Nothing of a body can be read from its mark.
create table forgotten_texts (
    salt   text not null,                            -- the id of the vault that forgot it
    digest text not null,                            -- SHA-256 of "salt:hash of the body"
    primary key (salt, digest)
) without rowid;
