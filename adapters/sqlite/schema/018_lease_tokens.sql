-- Tokens are random, so no row has to outlive its lease to remember the last one. Whoever works while this
-- is done loses the lease, and writes nothing more.
drop table leases;
create table leases (
    name       text primary key,
    holder     text not null,
    token      text not null,
    expires_ms integer not null
) without rowid;
