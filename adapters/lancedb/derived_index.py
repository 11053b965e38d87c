from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, ClassVar

from clawmem.adapters.lancedb.checksums import Checksums
from clawmem.adapters.lancedb.store import store_of
from clawmem.adapters.lancedb.table import faults_of_keys, marker_in, marker_row, merge
from clawmem.adapters.lancedb.translation import Changes, Row, is_absence, translated
from clawmem.ports.backend import IndexPlace
from clawmem.ports.errors import IndexDamaged, VaultError, VaultReadOnly
from clawmem.ports.records import Marker

# Every commit adds a fragment and a version. Many fragments slow down reading, and many versions enlarge the
# folder; a version is kept as long as a reader may still use it.
MOST_FRAGMENTS = 32
KEPT = timedelta(minutes=10)
SMALL = 2000  # rows; maintenance of so few takes some hundredths of a second
MOST_UNINDEXED = 1000  # rows that every search scans one by one
_REST = 9  # the pause is nine times the duration, so maintenance takes at most a tenth of the time


class LanceIndex(ABC):
    """
    Base class of both indexes: one table, in which each commit is one version.

    LanceDB has no transaction over several statements, but a merge replaces, adds and deletes rows in a
    single step. A block is therefore collected into one merge, which also writes the marker as a row. A
    reader or a killed process never sees a partial commit.
    """

    table_name: ClassVar[str]

    def __init__(self, place: IndexPlace) -> None:
        self._store = store_of(place)
        # An object store verifies its data itself.
        self._checksums = None if self._store.is_remote else Checksums(self._store.uri, self.table_name)
        self._read_only = place.read_only
        self._changes: Changes | None = None
        # version and marker: the marker of a version never changes
        self._read: tuple[int, Marker | None] | None = None
        self._throttle = MaintenanceThrottle()
        self._connection: Any = None
        self._table: Any = None
        self._open()

    def marker(self) -> Marker | None:
        return self._marker_of(self._latest())

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._changes is not None:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        self._refuse_read_only()
        self._changes = changes = Changes()
        try:
            yield
        finally:
            self._changes = None
        self._commit(changes, marker)

    def remove(self, document_id: int) -> None:
        with self._changing() as changes:
            changes.remove(document_id)

    def clear(self) -> None:
        self._refuse_read_only()
        self._latest()
        with translated(self._store.uri):
            self._overwrite(schema=self._blank_schema())
            self._prepare(self._table)
            self._renew_checksums()

    def optimize(self) -> None:
        self._refuse_read_only()
        table = self._latest()
        with translated(self._store.uri), self._throttle.measured():
            self._renew_indexes(table, all_of_them=True)
            self._compact(table)
            self._renew_checksums()

    def faults(self) -> list[str]:
        try:
            table = self._latest()
            with translated(self._store.uri):
                if self._checksums and (spoilt := self._checksums.faults()):
                    return spoilt
                return [*faults_of_keys(table), *self._faults_of_search(table)]
        except VaultError as error:
            return [str(error)]

    def close(self) -> None:
        self._table = self._connection = None

    # -- methods of the concrete indexes ----------------------------------------------------------------

    @abstractmethod
    def _blank_schema(self) -> Any:
        """Return the columns of an empty table."""

    @abstractmethod
    def _rows(self, rows: Sequence[Row]) -> Any:
        """Return *rows*, at least one, as an Arrow table."""

    @abstractmethod
    def _prepare(self, table: Any) -> None:
        """Create the missing parts of a table other than its columns, such as full-text indexes."""

    @abstractmethod
    def _renew_indexes(self, table: Any, *, all_of_them: bool = False) -> None:
        """Update LanceDB's indexes to all rows; those known to be current only if *all_of_them* is true."""

    @abstractmethod
    def _unindexed(self, table: Any) -> int:
        """Return the number of rows that LanceDB's indexes lack; 0 if the table needs no index yet."""

    @abstractmethod
    def _faults_of_search(self, table: Any) -> list[str]:
        """Return the faults that a test search finds."""

    # -- the table --------------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._read_only:
            self._open_to_read()
            return
        self._connection = self._store.connect()
        try:
            self._table = self._store.reached(lambda: self._connection.open_table(self.table_name))
        except IndexDamaged as error:
            if not is_absence(error):
                raise
            self._make()
        with translated(self._store.uri):
            self._refuse_foreign()
            self._prepare(self._table)
            if self._checksums and not self._checksums.exist():
                self._checksums.renew()

    def _open_to_read(self) -> None:
        if not self._store.exists():
            raise IndexDamaged(self._store.uri, "it does not exist")
        self._table = self._store.table_to_read(self.table_name)
        with translated(self._store.uri):
            self._refuse_foreign()

    def _make(self) -> None:
        with translated(self._store.uri):
            # Another process may be creating the table at the same time.
            self._table = self._connection.create_table(
                self.table_name, schema=self._blank_schema(), exist_ok=True
            )

    def _overwrite(self, **content: Any) -> None:
        """Replace all rows and columns in one version; handles of other processes see it like any other commit."""
        self._table = self._connection.create_table(self.table_name, mode="overwrite", **content)

    def _latest(self) -> Any:
        """Return the table at its latest version; a handle stays at its version otherwise."""
        self._store.reached(self._table.checkout_latest)
        return self._table

    def _refuse_foreign(self) -> None:
        missing = set(self._blank_schema().names) - set(self._table.schema.names)
        if missing:
            raise IndexDamaged(self._store.uri, f"its table lacks the columns {', '.join(sorted(missing))}")

    def _refuse_read_only(self) -> None:
        if self._read_only:
            raise VaultReadOnly(self._store.uri)

    # -- commits ----------------------------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Iterator[Changes]:
        """Collect changes in the open block, or commit them at once if there is none."""
        if self._changes is not None:
            yield self._changes
            return
        with self.committing():
            assert self._changes is not None
            yield self._changes

    def _commit(self, changes: Changes, marker: Marker | None) -> None:
        rows = list(changes.rows())
        if not rows and not changes.removed and marker is None:
            return
        table = self._latest()
        with translated(self._store.uri):
            self._apply(table, changes.removed, rows, marker)
        # The commit is complete; maintenance that fails now is repeated after a later commit.
        with suppress(VaultError):
            self._maintain()
        with suppress(VaultError), translated(self._store.uri):
            self._renew_checksums()

    def _apply(self, table: Any, removed: set[int], rows: Sequence[Row], marker: Marker | None) -> None:
        merge(table, removed, self._parts(rows, marker, table.schema))

    def _parts(self, rows: Sequence[Row], marker: Marker | None, schema: Any) -> list[Any]:
        """Return rows and marker as Arrow tables with the same schema, that of the rows if there are any."""
        parts = [self._rows(rows)] if rows else []
        if marker is not None:
            parts.append(marker_row(marker, parts[0].schema if parts else schema))
        return parts

    def _marker_of(self, table: Any) -> Marker | None:
        with translated(self._store.uri):
            version = table.version
            if self._read is None or self._read[0] != version:
                self._read = version, marker_in(table)
        return self._read[1]

    def _held(self, table: Any) -> int:
        """Return the number of rows without the marker, from the metadata of the table."""
        with translated(self._store.uri):
            return int(table.count_rows()) - (self._marker_of(table) is not None)

    # -- maintenance ------------------------------------------------------------------------------------

    def _maintain(self) -> None:
        """Run maintenance after a commit if later searches need it, in a limited share of the time."""
        table = self._table
        with translated(self._store.uri):
            is_scattered = table.stats()["fragment_stats"]["num_fragments"] > MOST_FRAGMENTS
            is_cheap = table.count_rows() <= SMALL
            is_due = is_scattered or self._unindexed(table) > MOST_UNINDEXED
            if not is_due or not (is_cheap or self._throttle.allows()):
                return
            with self._throttle.measured():
                self._renew_indexes(table)
                if is_scattered:
                    self._compact(table)

    def _compact(self, table: Any) -> None:
        # Indexes are updated first; otherwise compaction would merge changes into indexes that are rebuilt
        # anyway.
        if self._checksums:
            self._checksums.withdraw()
        table.optimize(cleanup_older_than=KEPT)

    def _renew_checksums(self) -> None:
        if self._checksums:
            self._checksums.renew()


class MaintenanceThrottle:
    """Throttle for maintenance in this process, based on the duration of its last run."""

    def __init__(self) -> None:
        self._not_before = 0.0

    def allows(self) -> bool:
        """Whether the pause is over."""
        return time.monotonic() >= self._not_before

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure the maintenance that runs in the block."""
        began = time.monotonic()
        try:
            yield
        finally:
            now = time.monotonic()
            self._not_before = now + _REST * (now - began)
