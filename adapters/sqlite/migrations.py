"""Forward-only schema migrations: ``NNN_name.sql`` takes a vault from version NNN-1 to NNN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext

from clawmem.adapters.sqlite.abandoning import drop_without_extension, empty_fts_table
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.lexical_tables import create_tables, table_name
from clawmem.adapters.sqlite.short_vectors import shortened
from clawmem.ports.errors import (
    VaultError,
)
from clawmem.ports.records import Grain
from clawmem.ports.vault_errors import NotAVault, VaultTooNew

LATEST = 33
_VECTORS_ONCE = 30
_SHORT_VECTORS = 32
_SHORT_FRAGMENTS = 33
APPLICATION_ID = 0x434C414D  # "CLAM": distinguishes a vault from other SQLite files


def migrate(db: Database, scripts: Sequence[str] | None = None) -> None:
    """
    Migrate a vault to `LATEST`, each step in one transaction. For a current vault this costs a few pragmas.

    Raises:
        VaultTooNew: a later clawmem wrote the vault; nothing was changed.
        NotAVault: another program made the SQLite file; nothing was changed.
        VaultError: the vault is read-only, and empty or of an older version.
    """
    found = version(db)
    _refuse_strangers(db, found)
    if found > LATEST:
        raise VaultTooNew(db.path, found, LATEST)
    if db.read_only and found < LATEST:
        raise VaultError(
            db.path,
            f"An earlier clawmem wrote {db.path} (schema {found}). To migrate it, run: clawmem status",
        )
    if not db.read_only:
        db.write_ahead()
    if found < LATEST:
        _upgrade(db, scripts or _scripts())


def bring_to(db: Database, number: int) -> None:
    """Create the schema of version *number* in an empty file."""
    db.write_ahead()
    _upgrade(db, _scripts()[:number])


def version(db: Database) -> int:
    """Return the schema version of the file; 0 for an empty one."""
    return int(db.value("pragma user_version"))


def _upgrade(db: Database, scripts: Sequence[str]) -> None:
    is_new = version(db) == 0  # no other process has seen a part of it, so one transaction saves disk syncs
    with db.atomic() if is_new else nullcontext():
        for number, script in enumerate(scripts, start=1):
            _step(db, number, script)


def _step(db: Database, number: int, script: str) -> None:
    with db.atomic():
        if version(db) >= number:  # another process has done this step
            return
        if number == _SHORT_VECTORS:
            db.define("shortened", shortened)
        db.write(script)
        if number in (_SHORT_VECTORS, _SHORT_FRAGMENTS):
            db.has_lost_pages = True  # those of the longer tables
        if number == _VECTORS_ONCE:
            _renew_indexes(db)
        if number == 1:
            for sql, values in new_id():
                db.write(sql, values)
            db.write(f"pragma application_id = {APPLICATION_ID}")
        db.write(f"pragma user_version = {number}")


def new_id() -> Iterator[tuple[str, Mapping[str, str]]]:
    """
    Yield the statements that give a vault an id of its own, with their parameters.

    A copy of a vault needs one, so that they share no index in an object store. Markers of indexes inside the vault name
    its id.
    """
    import secrets

    own = {"id": secrets.token_hex(8)}
    before = "select value from meta where name = 'vault_id'"
    yield f"update meta set value = replace(value, ({before}), :id) where name like 'marker%'", own
    yield "insert or replace into meta values ('vault_id', :id)", own


def _renew_indexes(db: Database) -> None:
    """
    Drop the table of vectors, and make the tables of words anew if there are no documents.

    The words of documents stay in tables of the earlier layout until `update` or `rebuild` reads the records again.
    Those of sections are deleted: they have no weight in any answer.
    """
    drop_without_extension(db, "vector_vec0")
    if db.value("select exists (select 1 from documents)"):
        empty_fts_table(db, table_name(Grain.SECTION))
    else:
        create_tables(db)


def foreign_database(path: str) -> NotAVault:
    """Return the error for a SQLite file that is not a vault and must not be changed."""
    return NotAVault(path, "it is the SQLite database of another program")


def _refuse_strangers(db: Database, found: int) -> None:
    # The id is read last, because another process that creates the vault commits version and id together.
    taken = found or db.value("select count(*) from sqlite_schema")
    if taken and db.value("pragma application_id") != APPLICATION_ID:
        raise foreign_database(db.path)


def _scripts() -> list[str]:
    from importlib.resources import files

    folder = files("clawmem.adapters.sqlite") / "schema"
    return [entry.read_text("utf-8") for entry in sorted(folder.iterdir(), key=lambda e: e.name)][:LATEST]
