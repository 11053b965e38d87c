"""Removal of tables that SQLite cannot empty or drop, because their pages are damaged or their extension is missing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext

from clawmem.adapters.sqlite.database import MEMORY, Database
from clawmem.ports.errors import IndexDamaged, VaultDamaged, VaultError, VaultFull, VaultLocked, VaultReadOnly

_FORGET_TABLE = "delete from sqlite_schema where :name in (name, tbl_name) or tbl_name glob :name || '_*'"


@contextmanager
def blame_index(db: Database, faults: Callable[[], Sequence[str]]) -> Iterator[None]:
    """
    Raise `IndexDamaged` if an error in the block is due to an index, which has *faults*.

    An index also reads records. Damage of records stays `VaultDamaged`, because rebuilding the index does not
    repair it.
    """
    try:
        yield
    except (VaultLocked, VaultFull, VaultReadOnly):
        raise
    except VaultError as error:
        if not faults():
            raise
        raise IndexDamaged(db.path, "one of its tables is broken") from error


def drop_virtual_table(db: Database, name: str) -> None:
    """
    Drop the virtual table *name*. Call this inside a transaction.

    A damaged one is removed from the schema, and none of its pages is read. They stay unreferenced in the file until the
    next vacuum, which `Database.has_lost_pages` requests.
    """
    # Check first: SQLite can neither commit nor roll back a statement that began on a broken table.
    if not broken_tables(db, [name]):
        db.write(f"drop table {name}")
        return
    version = int(db.write("pragma schema_version")[0][0])
    db.write("pragma writable_schema = on")
    try:
        db.write(_FORGET_TABLE, {"name": name})
        db.write(f"pragma schema_version = {version + 1}")
    finally:
        db.write("pragma writable_schema = reset")
    db.has_lost_pages = True


def broken_tables(db: Database, names: Iterable[str]) -> list[str]:
    """Return the tables among *names*, and among the shadow tables of *names*, that fail SQLite's integrity check."""
    sql = "select name from sqlite_schema where type = 'table' and (name = ? or name glob ? || '_*')"
    broken = []
    # An error in a query of the state that was last committed does not affect the writer.
    is_alone = db.path == MEMORY
    with nullcontext(db) if is_alone else closing(Database(db.path, read_only=True)) as reader:
        for (part,) in [row for name in names for row in db.rows(sql, (name, name))]:
            try:
                is_sound = reader.rows(f"pragma integrity_check({part})") == [("ok",)]
            except VaultDamaged:
                is_sound = False
            if not is_sound:
                broken.append(part)
    return broken
