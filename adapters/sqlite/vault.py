"""Opening of a vault in one SQLite file."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from clawmem.adapters.sqlite.abandoning import broken_tables
from clawmem.adapters.sqlite.database import MEMORY, Database
from clawmem.adapters.sqlite.documents import SqliteDocuments, SqliteProperties
from clawmem.adapters.sqlite.embeddings import SqliteEmbeddings
from clawmem.adapters.sqlite.indexes import SqliteLeases, SqliteOutbox
from clawmem.adapters.sqlite.knowledge import SqliteEntities, SqliteNotes, SqliteRelations, SqliteTriples
from clawmem.adapters.sqlite.lexical_index import SqliteLexicalIndex
from clawmem.adapters.sqlite.links import SqliteDerivations, SqliteLinks, SqliteSuccessions
from clawmem.adapters.sqlite.logs import (
    SqliteActs,
    SqliteForgottenTexts,
    SqliteJournal,
    SqliteLedger,
    SqliteModelAnswers,
    SqliteModelFailures,
    SqliteReceipts,
    SqliteTelemetry,
)
from clawmem.adapters.sqlite.schema import prepare, version
from clawmem.adapters.sqlite.sessions import SqliteCaptures, SqliteSessions, SqliteUsage
from clawmem.adapters.sqlite.store import Store
from clawmem.adapters.sqlite.vault_file import log_is_empty, refuse_empty
from clawmem.ports.errors import (
    ClawmemError,
    InterruptedAfterCommit,
    VaultDamaged,
    VaultError,
    VaultFull,
    VaultLocked,
    VaultReadOnly,
)
from clawmem.ports.storage import VaultInfo
from clawmem.ports.vault import Vault


def open_vault(path: str, *, read_only: bool = False, holder: str = "") -> Vault:
    """
    Open the vault in the SQLite file *path*; records, lexical index and vectors change in one transaction.

    A missing file is created, unless the vault is opened *read_only*; the name of its draft tells the process *holder*.

    Raises:
        VaultReadOnly, VaultLocked, VaultDamaged, VaultError: see `clawmem.ports.errors`.
    """
    refuse_empty(path)
    if not read_only and path != MEMORY:
        try:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except FileExistsError as error:
            raise VaultError(path, f"{Path(path).parent} is a file; choose another --vault.") from error
        except OSError as error:
            raise VaultReadOnly(path) from error
        _make_whole(path, holder)
    db = Database(path, read_only=read_only)
    try:
        prepare(db)
    except BaseException:
        db.close()
        raise
    lexical, embeddings = SqliteLexicalIndex(db), SqliteEmbeddings(db)
    return Vault(
        close=db.close,
        transactions=SqliteTransactions(db),
        storage=SqliteStorage(db, lexical, embeddings),
        documents=SqliteDocuments(db),
        successions=SqliteSuccessions(db),
        derivations=SqliteDerivations(db),
        links=SqliteLinks(db),
        properties=SqliteProperties(db),
        lexical=lexical,
        vectors=embeddings,
        embeddings=embeddings,
        outbox=SqliteOutbox(db),
        entities=SqliteEntities(db),
        triples=SqliteTriples(db),
        relations=SqliteRelations(db),
        notes=SqliteNotes(db),
        sessions=SqliteSessions(db),
        captures=SqliteCaptures(db),
        usage=SqliteUsage(db),
        telemetry=SqliteTelemetry(db),
        receipts=SqliteReceipts(db),
        answers=SqliteModelAnswers(db),
        ledger=SqliteLedger(db),
        model_failures=SqliteModelFailures(db),
        acts=SqliteActs(db),
        journal=SqliteJournal(db),
        forgotten_texts=SqliteForgottenTexts(db),
        leases=SqliteLeases(db),
    )


def _make_whole(path: str, holder: str) -> None:
    """
    Make a missing vault under another name first, so that a process that is killed leaves no empty file at *path*.

    A link replaces no vault that another process has just made. `open_vault` makes it in place where links are impossible,
    and where the log of a deleted vault is left: SQLite would write that into a whole one. Raises `VaultFull`.
    """
    if any(os.path.lexists(f"{path}{ending}") for ending in ("", "-wal", "-journal")):
        return
    folder, name = os.path.split(path)
    prefix = f".{name}.draft-{holder.replace(':', '+')}-"
    with suppress(OSError), TemporaryDirectory(prefix=prefix, dir=folder) as drafts:
        draft = f"{drafts}/{name}"
        try:
            with closing(Database(draft)) as db:
                prepare(db)
        except VaultFull as error:
            raise VaultFull(path) from error
        except ClawmemError:  # raised again for the right name
            return
        if not log_is_empty(draft):  # SQLite closes a file without an error if its log does not fit into it
            raise VaultFull(path)
        os.link(draft, path)


class SqliteTransactions(Store):
    """``Transactions`` of one database."""

    def reading(self) -> AbstractContextManager[None]:
        return self._db.snapshot()

    @contextmanager
    def writing(self) -> Iterator[None]:
        if self._db.read_only:
            raise VaultReadOnly(self._db.path)
        if self._db.in_transaction:
            raise RuntimeError("writing() is not reentrant")
        with self._db.atomic():
            yield
        if self._db.has_lost_pages:  # they only cost space; a later repair or scrub removes them
            self._db.has_lost_pages = False
            try:
                with suppress(VaultLocked, VaultFull, VaultDamaged):
                    self._db.vacuum()
            except KeyboardInterrupt as interruption:
                raise InterruptedAfterCommit from interruption


_OF_RECORDS = """
select name from sqlite_schema where type = 'table' and name not glob 'lexical_*' and name not glob 'vectors_*'
"""
_NAMES_DIFFER = "select (select count(*) from entity_names_docsize) <> (select count(*) from entities)"


@dataclass(frozen=True)
class SqliteStorage:
    """``Storage`` in one SQLite file."""

    db: Database
    lexical: SqliteLexicalIndex
    vectors: SqliteEmbeddings

    def info(self) -> VaultInfo:
        files = (Path(self.db.path), Path(f"{self.db.path}-wal"))
        return VaultInfo(
            backend="sqlite",
            location=self.db.path,
            schema=version(self.db),
            size_bytes=sum(file.stat().st_size for file in files if file.exists()),
            read_only=self.db.read_only,
            lexical_method=self.lexical.method,
            vector_method=self.vectors.method,
        )

    def scrub(self) -> None:
        if self.db.read_only:
            raise VaultReadOnly(self.db.path)
        with self.db.atomic():
            # Deleted text stays in the index tables until these are rebuilt.
            self.lexical.optimize()
            self.db.write("insert into entity_names (entity_names) values ('optimize')")
        self.db.vacuum()

    def check(self) -> list[str]:
        try:
            results = self.db.values("pragma integrity_check(20)")
        except VaultDamaged as error:
            results = [error.reason]
        if results == ["ok"]:
            faults = [f"dangling reference in {name}" for name in self.db.values("pragma foreign_key_check")]
            if self.db.value(_NAMES_DIFFER):
                faults.append("The index of entity names differs from the records")
            return faults
        if broken := broken_tables(self.db, self.db.values(_OF_RECORDS)):
            return [f"{name} is broken" for name in broken]
        # an index reports its own faults
        is_of_index = self.lexical.faults() or self.vectors.faults()
        return [] if is_of_index else [f"SQLite: {text}" for text in results]
