from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, ClassVar

from clawmem.adapters.lancedb.changes import Changes, Row
from clawmem.adapters.lancedb.pace import Pace
from clawmem.adapters.lancedb.seals import Seals
from clawmem.adapters.lancedb.store import store_of
from clawmem.adapters.lancedb.table import faults_of_keys, marker_in, marker_row, merge
from clawmem.adapters.lancedb.translation import is_absence, translated
from clawmem.ports.backend import IndexPlace
from clawmem.ports.errors import IndexDamaged, VaultError, VaultReadOnly
from clawmem.ports.records import Marker

# Every commit leaves a fragment and a version behind. Reading slows down with the one, the folder grows with
# the other; versions are kept for as long as somebody may still be reading one.
MOST_FRAGMENTS = 32
KEPT = timedelta(minutes=10)
SMALL = 2000  # rows; upkeep of so few takes some hundredths of a second, whatever it does
MOST_UNINDEXED = 1000  # rows that every search looks through one by one


class LanceIndex(ABC):
    """
    What both indexes have in common: one table, of which every commit is one version.

    The engine has no transaction over several statements, but a merge replaces rows, adds rows and deletes rows
    in a single step. So a block is collected and becomes one merge, in which the marker is a row like
    any other. Neither a reader nor a kill can come between.
    """

    table_name: ClassVar[str]

    def __init__(self, place: IndexPlace) -> None:
        self._store = store_of(place)
        # An object store checks what it stores by itself.
        self._seals = None if self._store.is_remote else Seals(self._store.uri, self.table_name)
        self._read_only = place.read_only
        self._changes: Changes | None = None
        self._read: tuple[int, Marker | None] | None = None  # the marker of a version, which never changes
        self._pace = Pace()
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
            self._seal()

    def optimize(self) -> None:
        self._refuse_read_only()
        table = self._latest()
        with translated(self._store.uri), self._pace.measured():
            self._renew_indexes(table, all_of_them=True)
            self._compact(table)
            self._seal()

    def faults(self) -> list[str]:
        try:
            table = self._latest()
            with translated(self._store.uri):
                if self._seals and (spoilt := self._seals.faults()):
                    return spoilt
                return [*faults_of_keys(table), *self._faults_of_search(table)]
        except VaultError as error:
            return [str(error)]

    def close(self) -> None:
        self._table = self._connection = None

    # -- what an index has to say for itself ------------------------------------------------------------

    @abstractmethod
    def _blank_schema(self) -> Any:
        """The columns of an empty table."""

    @abstractmethod
    def _rows(self, rows: Sequence[Row]) -> Any:
        """Rows as an Arrow table; at least one."""

    @abstractmethod
    def _prepare(self, table: Any) -> None:
        """Make what a table needs besides its columns, where it is missing."""

    @abstractmethod
    def _renew_indexes(self, table: Any, *, all_of_them: bool = False) -> None:
        """Bring the engine's indexes up to date with all rows; those that this process knows to be, only if asked."""

    @abstractmethod
    def _unindexed(self, table: Any) -> int:
        """How many rows the engine's indexes lack; 0 where none is wanted yet."""

    @abstractmethod
    def _faults_of_search(self, table: Any) -> list[str]:
        """What is wrong with answers."""

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
            if self._seals and not self._seals.exist():
                self._seals.renew()

    def _open_to_read(self) -> None:
        if not self._store.exists():
            raise IndexDamaged(self._store.uri, "nothing is there")
        self._table = self._store.table_to_read(self.table_name)
        with translated(self._store.uri):
            self._refuse_foreign()

    def _make(self) -> None:
        with translated(self._store.uri):
            # Another process may be making it at this moment.
            self._table = self._connection.create_table(
                self.table_name, schema=self._blank_schema(), exist_ok=True
            )

    def _overwrite(self, **content: Any) -> None:
        """Replace all rows and columns in one version; handles of other processes see that like any commit."""
        self._table = self._connection.create_table(self.table_name, mode="overwrite", **content)

    def _latest(self) -> Any:
        """The table as it is now: a handle stays at its version until it is told."""
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
        """The changes of the open block, or of a commit of its own."""
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
        # The commit stands; what upkeep cannot do now it does after a later one.
        with suppress(VaultError):
            self._keep_up()
        with suppress(VaultError), translated(self._store.uri):
            self._seal()

    def _apply(self, table: Any, removed: set[int], rows: Sequence[Row], marker: Marker | None) -> None:
        merge(table, removed, self._parts(rows, marker, table.schema))

    def _parts(self, rows: Sequence[Row], marker: Marker | None, schema: Any) -> list[Any]:
        """Rows and marker as Arrow tables of one schema, that of the rows when there are any."""
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
        """How many rows there are besides the marker, told from the table's own books."""
        with translated(self._store.uri):
            return int(table.count_rows()) - (self._marker_of(table) is not None)

    # -- upkeep -----------------------------------------------------------------------------------------

    def _keep_up(self) -> None:
        """Do after a commit what makes the next searches cheap, while that stays a small part of the time."""
        table = self._table
        with translated(self._store.uri):
            is_scattered = table.stats()["fragment_stats"]["num_fragments"] > MOST_FRAGMENTS
            is_cheap = table.count_rows() <= SMALL
            if not (is_scattered or self._lags(table)) or not (is_cheap or self._pace.allows()):
                return
            with self._pace.measured():
                self._renew_indexes(table)
                if is_scattered:
                    self._compact(table)

    def _lags(self, table: Any) -> bool:
        return self._unindexed(table) > MOST_UNINDEXED

    def _compact(self, table: Any) -> None:
        # After the indexes were brought up to date: the other way round it merges into them what is then made anew.
        if self._seals:
            self._seals.withdraw()
        table.optimize(cleanup_older_than=KEPT)

    def _seal(self) -> None:
        if self._seals:
            self._seals.renew()
