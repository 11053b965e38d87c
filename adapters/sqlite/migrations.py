"""The schema, forward only: ``NNN_name.sql`` takes a vault from version NNN-1 to NNN."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import (
    VaultError,
)
from clawmem.ports.vault_errors import NotAVault, VaultTooNew

LATEST = 27
APPLICATION_ID = 0x434C414D  # "CLAM": how a vault tells itself from any other SQLite file


def migrate(db: Database, scripts: Sequence[str] | None = None) -> None:
    """
    Bring a vault to `LATEST`, each step in one transaction; one that is there costs a few pragmas.

    Raises:
        VaultTooNew: written by a later clawmem; nothing was touched.
        NotAVault: a SQLite file that some other program made; nothing was touched.
        VaultError: a read-only vault that is behind or empty.
    """
    found = version(db)
    _refuse_strangers(db, found)
    if found > LATEST:
        raise VaultTooNew(db.path, found, LATEST)
    if db.read_only and found < LATEST:
        raise VaultError(db.path, f"{db.path} has schema {found}; open it once for writing: clawmem status")
    if not db.read_only:
        db.write_ahead()
    if found < LATEST:
        _upgrade(db, scripts or _scripts())


def bring_to(db: Database, number: int) -> None:
    """Give an empty file the schema as it was at version *number*."""
    db.write_ahead()
    _upgrade(db, _scripts()[:number])


def version(db: Database) -> int:
    """The schema version of the file; 0 for an empty one."""
    return int(db.value("pragma user_version"))


def _upgrade(db: Database, scripts: Sequence[str]) -> None:
    is_new = version(db) == 0  # nobody knows a part of it: all at once costs one wait for the disk
    with db.atomic() if is_new else nullcontext():
        for number, script in enumerate(scripts, start=1):
            _step(db, number, script)


def _step(db: Database, number: int, script: str) -> None:
    with db.atomic():
        if version(db) >= number:  # another process was faster
            return
        db.write(script)
        if number == 1:
            import secrets

            db.write("insert into meta values ('vault_id', ?)", (secrets.token_hex(8),))
            db.write(f"pragma application_id = {APPLICATION_ID}")
        db.write(f"pragma user_version = {number}")


def another_programs(path: str) -> NotAVault:
    """Return the error about a SQLite file that is no vault; nothing may be done to it."""
    return NotAVault(path, "it is the SQLite database of another program")


def _refuse_strangers(db: Database, found: int) -> None:
    # The id is asked for last: another process that is just making the vault writes all of it at once.
    taken = found or db.value("select count(*) from sqlite_schema")
    if taken and db.value("pragma application_id") != APPLICATION_ID:
        raise another_programs(db.path)


def _scripts() -> list[str]:
    from importlib.resources import files

    folder = files("clawmem.adapters.sqlite") / "schema"
    return [entry.read_text("utf-8") for entry in sorted(folder.iterdir(), key=lambda e: e.name)][:LATEST]
