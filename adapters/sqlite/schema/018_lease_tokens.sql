-- Tokens are random, so a released lease needs no row to remember its last token. A process that holds a lease during
-- this migration loses the lease and cannot write any more.
drop table leases;
create table leases (
    name       text primary key,
    holder     text not null,
    token      text not null,
    expires_ms integer not null
) without rowid;
