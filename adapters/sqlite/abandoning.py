"""Removal of tables that SQLite cannot empty or drop, because their pages are damaged or their extension is missing."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import VaultDamaged, VaultError

_OF_TABLE = "(name = :name or tbl_name = :name or tbl_name glob :name || '_*')"


def abandon(db: Database, name: str) -> None:
    """
    Remove the virtual table *name* from the schema without reading any of its pages.

    Call this inside a transaction. The pages stay unreferenced in the file until the next vacuum, which
    `Database.has_lost_pages` requests.
    """
    version = int(db.write("pragma schema_version")[0][0])
    db.write("pragma writable_schema = on")
    try:
        db.write(f"delete from sqlite_schema where {_OF_TABLE}", {"name": name})
        db.write(f"pragma schema_version = {version + 1}")
    finally:
        db.write("pragma writable_schema = reset")
    db.has_lost_pages = True


def empty_fts_table(db: Database, name: str) -> None:
    """Delete all rows of the FTS5 table *name*, even if the table is damaged. Call this inside a transaction."""
    # Check first: SQLite can neither commit nor roll back a statement that began on a broken table.
    if broken_tables(db, [name]) or not _opens(db, name):
        _recreate(db, name)
    else:
        db.write(f"insert into {name} ({name}) values ('delete-all')")


def drop_virtual_table(db: Database, name: str) -> None:
    """Drop the virtual table *name*, even if the table is damaged. Call this inside a transaction."""
    if broken_tables(db, [name]) or not _opens(db, name):
        abandon(db, name)
    else:
        db.write(f"drop table {name}")


def _recreate(db: Database, name: str) -> None:
    """Replace the virtual table *name* by an empty one with the same definition."""
    laid_out = str(db.write("select sql from sqlite_schema where name = ?", (name,))[0][0])
    abandon(db, name)
    db.write(laid_out)


def broken_tables(db: Database, names: Iterable[str]) -> list[str]:
    """Return the tables among *names*, and among the shadow tables of *names*, that fail SQLite's integrity check."""
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
    except VaultError:  # the table was created in this transaction, so readers do not see it
        return True
    return True


def _is_sound(db: Database, name: str) -> bool:
    try:
        return db.committed_rows(f"pragma integrity_check({name})") == [("ok",)]
    except VaultDamaged:
        return False
