"""Virtual tables whose own tables are too damaged to be emptied or dropped."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import VaultDamaged, VaultError

_OF_TABLE = "(name = :name or tbl_name = :name or tbl_name glob :name || '_*')"


def abandon(db: Database, name: str) -> None:
    """
    Take the virtual table *name* out of the schema without reading a page of it; inside a transaction.

    Its pages belong to nobody until the file is written anew, which `Database.has_lost_pages` asks for.
    """
    version = int(db.write("pragma schema_version")[0][0])
    db.write("pragma writable_schema = on")
    try:
        db.write(f"delete from sqlite_schema where {_OF_TABLE}", {"name": name})
        db.write(f"pragma schema_version = {version + 1}")
    finally:
        db.write("pragma writable_schema = reset")
    db.has_lost_pages = True


def emptied(db: Database, name: str) -> None:
    """Empty the FTS5 table *name*, whatever is wrong with it; inside a transaction."""
    # Looked at first: what was begun in a broken one can neither be ended nor taken back.
    if broken_tables(db, [name]) or not _opens(db, name):
        _made_anew(db, name)
    else:
        db.write(f"insert into {name} ({name}) values ('delete-all')")


def dropped(db: Database, name: str) -> None:
    """Drop the virtual table *name*, whatever is wrong with it; inside a transaction."""
    if broken_tables(db, [name]) or not _opens(db, name):
        abandon(db, name)
    else:
        db.write(f"drop table {name}")


def _made_anew(db: Database, name: str) -> None:
    """Put an empty virtual table in the place of *name*, laid out as that is."""
    laid_out = str(db.write("select sql from sqlite_schema where name = ?", (name,))[0][0])
    abandon(db, name)
    db.write(laid_out)


def broken_tables(db: Database, names: Iterable[str]) -> list[str]:
    """Those of the ordinary tables *names*, and of the tables that belong to virtual ones, that SQLite finds broken."""
    found = []
    for name in names:
        sql = "select name from sqlite_schema where type = 'table' and rootpage > 0 and (name = ? or name glob ? || '_*')"
        found += [part for (part,) in db.rows(sql, (name, name)) if not _is_sound(db, part)]
    return found


def _opens(db: Database, name: str) -> bool:
    try:
        db.committed_rows(f"select 1 from {name} limit 1")
    except VaultDamaged:
        return False
    except VaultError:  # made in this transaction
        return True
    return True


def _is_sound(db: Database, name: str) -> bool:
    try:
        return db.committed_rows(f"pragma integrity_check({name})") == [("ok",)]
    except VaultDamaged:
        return False
