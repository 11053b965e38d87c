-- Salted digests of forgotten bodies, to recognize an identical file. A digest does not reveal the body.
create table forgotten_texts (
    salt   text not null,                            -- the id of the vault that forgot it
    digest text not null,                            -- SHA-256 of "salt:hash of the body"
    primary key (salt, digest)
) without rowid;
