"""Schema of a vault: the script ``NNN_name.sql`` takes it from version NNN-1 to NNN."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import NotAVault, VaultError

LATEST = 1
APPLICATION_ID = 0x434C574D  # "CLWM", see `001_vault.sql`
# Statements that give a copy of a vault an id of its own, so that the copies share no index in an object store. Markers
# of the indexes inside the vault name its id.
NEW_ID = """
update meta set value = replace(value, (select value from meta where name = 'vault_id'), :id) where name like 'marker%';
insert or replace into meta values ('vault_id', :id);
"""
_DEVELOPMENT_ID = 0x434C414D  # of versions before the first release, whose schema numbers overlap


def migrate(db: Database) -> None:
    """
    Migrate a vault to `LATEST`. For a current vault this costs a few pragmas.

    Raises:
        NotAVault, VaultError: See `refuse_foreign`; nothing was changed.
        VaultError: The vault is read-only, and empty or of an older version.
    """
    found = version(db)
    # The id is read last, because another process that creates the vault commits version and id together.
    if found or db.value("select count(*) from sqlite_schema"):
        refuse_foreign(db.path, db.value("pragma application_id"), found)
    if not db.read_only:
        db.write_ahead()
        upgrade(db, scripts())
    elif found < LATEST:
        raise VaultError(
            db.path, f"{db.path} has the older schema {found}. To migrate it, run: clawmem status"
        )


def refuse_foreign(path: str, application_id: int, schema: int) -> None:
    """Raise an error if the SQLite file at *path* is not a vault, or of a version that this clawmem cannot read."""
    if application_id == _DEVELOPMENT_ID:
        reason = (
            f"A development version of clawmem wrote {path}: export its memories with that version (clawmem export), "
            "move the file away, and make the vault again from your notes with: clawmem bootstrap FOLDER"
        )
        raise VaultError(path, reason, code="VAULT_OF_DEVELOPMENT")
    if application_id != APPLICATION_ID:
        raise NotAVault(path, "it is the SQLite database of another program")
    if schema > LATEST:
        reason = f"{path} has schema {schema}, newer than this clawmem supports ({LATEST})."
        raise VaultError(path, f"{reason} Run: pip install --upgrade clawmem", code="VAULT_TOO_NEW")


def upgrade(db: Database, steps: Sequence[str]) -> None:
    """Run those scripts among *steps*, numbered from 1, that the vault lacks, each in one transaction."""
    for number, script in enumerate(steps, start=1):
        if version(db) < number:
            with db.atomic():
                if version(db) < number:  # no other process has done this step meanwhile
                    db.write(script)
                    db.write(f"pragma user_version = {number}")


def version(db: Database) -> int:
    """Return the schema version of the file; 0 for an empty one."""
    return int(db.value("pragma user_version"))


def scripts() -> list[str]:
    """Return the scripts of all versions in ascending order."""
    folder = files("clawmem.adapters.sqlite") / "schema"
    return [script.read_text("utf-8") for script in sorted(folder.iterdir(), key=lambda script: script.name)]
