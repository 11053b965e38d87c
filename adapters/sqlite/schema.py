"""Schema of a vault, which the script ``vault.sql`` creates, and files of other schemas."""

from importlib.resources import files

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import NotAVault, VaultError
from clawmem.ports.indexes import WORD_FORM
from clawmem.ports.storage import APPLICATION_ID, LATEST

DERIVED = frozenset({"outbox", "leases", "companions", "spaces", "texts"})  # recomputed without a model
# Statements that give a copy of a vault an id of its own, so that the copies share no index in an object store. Markers
# of the indexes inside the vault name its id.
NEW_ID = """
update meta set value = replace(value, (select value from meta where name = 'vault_id'), :id) where name like 'marker%';
insert or replace into meta values ('vault_id', :id);
"""


def prepare(db: Database) -> None:
    """
    Create the schema in an empty file; check the file of a vault, which costs a few pragmas.

    Raises:
        NotAVault, VaultError: see `refuse_foreign`, or the file is empty and opened read-only; nothing was changed.
    """
    if db.value("select count(*) from sqlite_schema"):
        refuse_foreign(db.path, db.value("pragma application_id"), version(db))
    elif db.read_only:
        raise VaultError(db.path, f"{db.path} has no vault yet. Run: clawmem bootstrap PATH")
    if not db.read_only:
        db.write_ahead()
        if not version(db):
            create(db)


def create(db: Database) -> None:
    """Create the schema, unless another process has done so meanwhile."""
    script = (files("clawmem.adapters.sqlite") / "vault.sql").read_text("utf-8")
    with db.atomic():
        if not version(db):
            db.write(script)
            db.write(f"pragma user_version = {LATEST}")
            db.write("insert into meta values ('lexical_form', ?)", (WORD_FORM,))


def refuse_foreign(path: str, application_id: int, schema: int) -> None:
    """Raise an error if the SQLite file at *path* is not a vault, or of a version that this clawmem cannot read."""
    if application_id != APPLICATION_ID:
        raise NotAVault(path, "it is the SQLite database of another program")
    if schema > LATEST:
        reason = f"{path} has schema {schema}, newer than this clawmem supports ({LATEST})."
        raise VaultError(path, f"{reason} Install a newer clawmem.", code="VAULT_TOO_NEW")


def version(db: Database) -> int:
    """Return the schema version of the file; 0 for an empty one."""
    return int(db.value("pragma user_version"))


def record_tables(db: Database) -> list[str]:
    """Return the tables that are neither indexes nor recomputed without a model."""
    sql = """
        select name from pragma_table_list
         where type = 'table' and schema = 'main' and name not glob 'sqlite_*' and name not glob 'vectors_*' order by name
        """
    return [name for name in db.values(sql) if name not in DERIVED]
