from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from clawmem.adapters.sqlite.abandoning import broken_tables
from clawmem.adapters.sqlite.database import MEMORY, Database
from clawmem.adapters.sqlite.documents import SqliteDocuments
from clawmem.adapters.sqlite.embeddings import SqliteEmbeddings, invalid_vectors
from clawmem.adapters.sqlite.empty_file import refuse_empty
from clawmem.adapters.sqlite.lexical_index import SqliteLexicalIndex, ranking_fault
from clawmem.adapters.sqlite.migrations import migrate, version
from clawmem.adapters.sqlite.outbox import SqliteOutbox
from clawmem.adapters.sqlite.relations import SqliteRelations
from clawmem.adapters.sqlite.telemetry import SqliteReceipts, SqliteTelemetry
from clawmem.adapters.sqlite.vector_index import SqliteVectorIndex
from clawmem.adapters.sqlite.vocabulary import unknown_words
from clawmem.ports.errors import (
    InterruptedAfterCommit,
    VaultDamaged,
    VaultError,
    VaultFull,
    VaultLocked,
    VaultReadOnly,
)

if TYPE_CHECKING:
    from clawmem.adapters.sqlite.captures import SqliteCaptures, SqliteUsage
    from clawmem.adapters.sqlite.entities import SqliteEntities
    from clawmem.adapters.sqlite.journal import SqliteActs, SqliteForgottenTexts, SqliteJournal
    from clawmem.adapters.sqlite.leases import SqliteLeases
    from clawmem.adapters.sqlite.links import SqliteLinks
    from clawmem.adapters.sqlite.model_records import SqliteLedger, SqliteModelAnswers, SqliteModelFailures
    from clawmem.adapters.sqlite.notes import SqliteNotes
    from clawmem.adapters.sqlite.properties import SqliteProperties
    from clawmem.adapters.sqlite.sessions import SqliteSessions
    from clawmem.adapters.sqlite.sketches import SqliteSketches
    from clawmem.adapters.sqlite.succession import SqliteChronology, SqliteSuccessions
    from clawmem.adapters.sqlite.triples import SqliteTriples
    from clawmem.ports.lexical_index import LexicalIndex
    from clawmem.ports.records import LexicalEntry
    from clawmem.ports.status import VaultInfo


class SqliteVault:
    """
    ``Vault`` in one SQLite file; records, lexical index and vectors change in one transaction.

    Opening a vault migrates an older schema. A vault opened ``read_only`` must exist.

    Raises:
        VaultReadOnly, VaultLocked, VaultTooNew, VaultDamaged, VaultError: see `clawmem.ports.errors`.
    """

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        refuse_empty(path)
        if not read_only and path != MEMORY:
            _make_folder(path)
        self._db = Database(path, read_only=read_only)
        try:
            migrate(self._db)
            if not read_only:
                self._reclaim_pages()
                self._self_test()
        except BaseException:
            self._db.close()
            raise
        self.documents = SqliteDocuments(self._db)
        self.lexical = SqliteLexicalIndex(self._db)
        self.vectors = SqliteVectorIndex(self._db)
        self.embeddings = SqliteEmbeddings(self._db)
        self.telemetry = SqliteTelemetry(self._db)
        self.receipts = SqliteReceipts(self._db)
        self.relations = SqliteRelations(self._db)
        self.outbox = SqliteOutbox(self._db)

    # Imported on first use, so that a cold lexical search does not pay for modules that it does not need.

    @cached_property
    def leases(self) -> SqliteLeases:
        from clawmem.adapters.sqlite.leases import SqliteLeases

        return SqliteLeases(self._db)

    @cached_property
    def acts(self) -> SqliteActs:
        from clawmem.adapters.sqlite.journal import SqliteActs

        return SqliteActs(self._db)

    @cached_property
    def forgotten_texts(self) -> SqliteForgottenTexts:
        from clawmem.adapters.sqlite.journal import SqliteForgottenTexts

        return SqliteForgottenTexts(self._db)

    @cached_property
    def journal(self) -> SqliteJournal:
        from clawmem.adapters.sqlite.journal import SqliteJournal

        return SqliteJournal(self._db)

    @cached_property
    def answers(self) -> SqliteModelAnswers:
        from clawmem.adapters.sqlite.model_records import SqliteModelAnswers

        return SqliteModelAnswers(self._db)

    @cached_property
    def model_failures(self) -> SqliteModelFailures:
        from clawmem.adapters.sqlite.model_records import SqliteModelFailures

        return SqliteModelFailures(self._db)

    @cached_property
    def sessions(self) -> SqliteSessions:
        from clawmem.adapters.sqlite.sessions import SqliteSessions

        return SqliteSessions(self._db)

    @cached_property
    def sketches(self) -> SqliteSketches:
        from clawmem.adapters.sqlite.sketches import SqliteSketches

        return SqliteSketches(self._db)

    @cached_property
    def successions(self) -> SqliteSuccessions:
        from clawmem.adapters.sqlite.succession import SqliteSuccessions

        return SqliteSuccessions(self._db)

    @cached_property
    def links(self) -> SqliteLinks:
        from clawmem.adapters.sqlite.links import SqliteLinks

        return SqliteLinks(self._db)

    @cached_property
    def properties(self) -> SqliteProperties:
        from clawmem.adapters.sqlite.properties import SqliteProperties

        return SqliteProperties(self._db)

    @cached_property
    def entities(self) -> SqliteEntities:
        from clawmem.adapters.sqlite.entities import SqliteEntities

        return SqliteEntities(self._db)

    @cached_property
    def triples(self) -> SqliteTriples:
        from clawmem.adapters.sqlite.triples import SqliteTriples

        return SqliteTriples(self._db)

    @cached_property
    def notes(self) -> SqliteNotes:
        from clawmem.adapters.sqlite.notes import SqliteNotes

        return SqliteNotes(self._db)

    @cached_property
    def ledger(self) -> SqliteLedger:
        from clawmem.adapters.sqlite.model_records import SqliteLedger

        return SqliteLedger(self._db)

    @cached_property
    def captures(self) -> SqliteCaptures:
        from clawmem.adapters.sqlite.captures import SqliteCaptures

        return SqliteCaptures(self._db)

    @cached_property
    def usage(self) -> SqliteUsage:
        from clawmem.adapters.sqlite.captures import SqliteUsage

        return SqliteUsage(self._db)

    @cached_property
    def chronology(self) -> SqliteChronology:
        from clawmem.adapters.sqlite.succession import SqliteChronology

        return SqliteChronology(self._db)

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
        try:
            self._reclaim_pages()
        except KeyboardInterrupt as interruption:
            raise InterruptedAfterCommit from interruption

    @property
    def location(self) -> str:
        """Path of the vault's file."""
        return self._db.path

    def info(self) -> VaultInfo:
        from clawmem.ports.status import VaultInfo

        return VaultInfo(
            backend="sqlite",
            location=self.location,
            schema=version(self._db),
            size_bytes=_size(self._db.path),
            read_only=self._db.read_only,
            lexical_method=self.lexical.method,
            vector_method=self.vectors.method,
        )

    def scrub(self) -> None:
        if self._db.read_only:
            raise VaultReadOnly(self._db.path)
        with self._db.atomic():
            # Deleted text stays in the index tables until these are rebuilt.
            self.lexical.optimize()
            self._db.write("insert into entity_names (entity_names) values ('optimize')")
        self._db.vacuum()

    def scratch_lexical(self) -> LexicalIndex:
        from clawmem.adapters.sqlite.word_check import ScratchLexicalIndex

        return ScratchLexicalIndex(self._db)

    def check(self) -> list[str]:
        found = self._broken_records()
        if not found:
            from clawmem.adapters.sqlite.word_check import wrong_names

            found = [
                *self._dangling(),
                *unknown_words(self._db),
                *self._invalid_vectors(),
                *wrong_names(self._db),
            ]
        fault = ranking_fault(self._db)
        return [*found, fault] if fault else found

    def check_words(self, entries: Iterable[Sequence[LexicalEntry]]) -> list[str]:
        from clawmem.adapters.sqlite.word_check import wrong_words

        return wrong_words(self._db, entries)

    def _dangling(self) -> list[str]:
        return [f"dangling reference in {row[0]}" for row in self._db.rows("pragma foreign_key_check")]

    def _invalid_vectors(self) -> list[str]:
        count = len(invalid_vectors(self._db))
        return [f"{count} stored vectors are damaged"] if count else []

    def _broken_records(self) -> list[str]:
        """Return what SQLite finds broken, unless all of it belongs to an index, which reports its own faults."""
        try:
            rows = self._db.rows("pragma integrity_check(20)")
        except VaultDamaged as error:
            rows = [(error.reason,)]
        said = [f"SQLite: {row[0]}" for row in rows if row[0] != "ok"]
        if not said:
            return []
        if broken := broken_tables(self._db, self._record_tables()):
            return [f"{name} is broken" for name in broken]
        return [] if self.lexical.faults() or self.vectors.faults() else said

    def _record_tables(self) -> list[str]:
        sql = "select name from sqlite_schema where type = 'table' and name not glob 'lexical_*' and name not glob 'vector_*'"
        return [name for (name,) in self._db.rows(sql)]

    def close(self) -> None:
        self._db.close()

    def _reclaim_pages(self) -> None:
        """Rebuild the file if a table was dropped. Unused pages only cost space; a later repair or scrub removes them."""
        if self._db.has_lost_pages:
            self._db.has_lost_pages = False
            with suppress(VaultLocked, VaultFull, VaultDamaged):
                self._db.vacuum()

    def _self_test(self) -> None:
        if fault := ranking_fault(self._db):
            raise VaultDamaged(self._db.path, fault, "Run: pip install --upgrade apsw")


def _make_folder(path: str) -> None:
    from pathlib import Path

    try:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise VaultError(path, f"{Path(path).parent} is a file; choose another --vault.") from error
    except OSError as error:
        raise VaultReadOnly(path) from error


def _size(path: str) -> int:
    from pathlib import Path

    return sum(part.stat().st_size for part in map(Path, (path, f"{path}-wal")) if part.exists())
