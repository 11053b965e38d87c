"""The one place that opens SQLite, decides how it waits, and says in our words what went wrong."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from itertools import count
from typing import Any, TypeVar

import apsw

from clawmem.adapters.sqlite.connections import (
    knows_vectors,
    load_vectors,
    log_is_empty,
    open_reader,
    open_writer,
    patience,
)
from clawmem.adapters.sqlite.readers import Readers, readers_of
from clawmem.ports.errors import (
    ClawmemError,
    InvalidInput,
    VaultDamaged,
    VaultError,
    VaultFull,
    VaultLocked,
    VaultReadOnly,
)
from clawmem.ports.vault_errors import NotAVault

Made = TypeVar("Made")
Row = tuple[Any, ...]
Bindings = Sequence[Any] | Mapping[str, Any]

MEMORY = ":memory:"

# sqlite-vec and FTS5 make errors of their own of what SQLite told them, at best in the same words.
_FULL = ("disk is full", "Could not insert a new vector chunk")
_BROKEN = (
    "Internal sqlite-vec error",
    "vectors blob read error",
    "chunks iter error",
    "Could not fetch vector",
    "invalid fts5 file format",
)


# Said of the schema, and of vectors among the records.
_RECORDS_BROKEN = ("vec0 constructor error", "vtable constructor failed", "vector BLOB length")


class VirtualTableDamaged(VaultDamaged):
    """FTS5 or sqlite-vec cannot make sense of its own tables."""


_HEADER = b"SQLite format 3\0"
_LARGEST = 2**63 - 1  # what SQLite stores

_EFFECTIVE = os.access in os.supports_effective_ids

_TENDED: Counter[str] = Counter()


class Database:
    """
    A writer connection, and read-only ones, lent to every other thread that asks.

    Readers let two legs of one question run side by side (SQLite releases the interpreter while it works). All that
    the process opens of a file share them. Inside a transaction the thread that writes reads what it wrote.
    """

    _tends_log = True  # who is open for writing puts the log away when it closes

    def __init__(self, path: str, *, read_only: bool = False, vector_extension: bool = True) -> None:
        if os.path.isdir(path):  # noqa: PTH112
            raise NotAVault(path, "it is a folder, and a vault is a file")
        self.path = path
        self.read_only = read_only
        self.has_lost_pages = False  # see `clawmem.adapters.sqlite.abandoning`
        self._wants_vectors = vector_extension
        self._owner = threading.get_ident()
        if not read_only:
            with self._translated():
                self._main  # noqa: B018  opened, and made where there is none
        file = (path, *which_file(path), vector_extension)
        self._readers = readers_of(file, partial(open_reader, path, vector_extension))
        self._tends_log = self._tends_log and not read_only
        _TENDED[path] += self._tends_log
        if read_only:
            self._try()

    # -- reading ------------------------------------------------------------------------------------

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """All rows of a query."""
        return self._read(lambda reader: list(reader.execute(sql, bindings)))

    def committed_rows(self, sql: str) -> list[Row]:
        """All rows of a query, without what an open transaction has changed; the writer does not see the query."""
        if self.path == MEMORY:
            return self.rows(sql)
        with self._translated():
            return self._readers.lend(lambda reader: list(reader.execute(sql)))

    def stream(self, sql: str, bindings: Bindings = ()) -> Iterator[Row]:
        """The rows of a query one by one, for results that should not all be in memory."""
        with self._reader() as reader:
            yield from reader.execute(sql, bindings)

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        """The first row of a query, or ``None``."""
        return self._read(lambda reader: next(iter(reader.execute(sql, bindings)), None))

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        """The first column of the first row, or ``None``."""
        row = self.row(sql, bindings)
        return row[0] if row else None

    # -- writing ------------------------------------------------------------------------------------

    def write(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Run one statement on the writer, and give back what it returns."""
        with self._translated():
            return list(self._main.execute(sql, bindings))

    def write_many(self, sql: str, bindings: Iterable[Bindings]) -> None:
        """Run one statement for each of *bindings*."""
        with self._translated():
            self._main.executemany(sql, bindings)

    def changes(self) -> int:
        """How many rows the last statement changed."""
        return self._main.changes()

    @property
    def in_transaction(self) -> bool:
        """Whether the writer is inside one."""
        return self._main.in_transaction

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """One write transaction, or part of the one that is open."""
        if self._main.in_transaction:
            yield
            return
        self.write("begin immediate")  # a deferred one that turns writer late cannot wait, only fail
        try:
            yield
            self.write("commit")
        except BaseException:
            # SQLite has rolled back by itself after some errors (a full disk among them).
            if self._main.in_transaction:
                self._main.execute("rollback")
            raise

    @contextmanager
    def without_rules(self) -> Iterator[None]:
        """Write rows exactly as they are given, without triggers and foreign keys; outside of a transaction."""
        rules = (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, apsw.SQLITE_DBCONFIG_ENABLE_FKEY)
        for rule in rules:
            self._main.config(rule, 0)
        try:
            yield
        finally:
            for rule in rules:
                self._main.config(rule, 1)

    # -- life ---------------------------------------------------------------------------------------

    def write_ahead(self) -> None:
        """Let readers and a writer work side by side from now on; the file remembers it."""
        patient = patience()
        for attempt in count():
            try:
                with self._translated():
                    self._main.pragma("journal_mode", "wal")
                return
            except VaultLocked:
                # When several make the same vault SQLite refuses all but one at once, whatever the handler.
                if not patient(attempt):
                    raise

    def vacuum(self) -> None:
        """
        Write the file anew without what was deleted, and empty the log.

        Raises:
            VaultLocked: somebody else is reading what was there before.
        """
        self.write("vacuum")
        if self.path != MEMORY and self.write("pragma wal_checkpoint(truncate)")[0][0]:
            raise VaultLocked(self.path)

    @cached_property
    def has_vectors(self) -> bool:
        """Whether the vector extension could be loaded."""
        if not self.read_only:
            return self._wants_vectors and load_vectors(self._main)
        return self._read(knows_vectors)

    def close(self) -> None:
        """Close every connection; a second call does nothing. One that a thread is reading with is closed by the thread."""
        self._readers = _CLOSED
        if "_main" in self.__dict__:  # at last: one that only reads does not put the log away
            with suppress(apsw.ThreadingViolationError):  # of a leg or a model that nobody waits for any more
                self._main.close()
        _TENDED[self.path] -= self._tends_log
        self._tends_log = False

    def _read(self, ask: Callable[[apsw.Connection], Made]) -> Made:
        try:
            return ask(self._main) if self._reads_what_it_writes() else self._readers.lend(ask)
        except (apsw.Error, UnicodeError, OverflowError) as error:
            raise self._explain(error) from error

    @contextmanager
    def _reader(self) -> Iterator[apsw.Connection]:
        with self._translated():
            if self._reads_what_it_writes():
                yield self._main
            else:
                with self._readers.lent() as reader:
                    yield reader

    def _reads_what_it_writes(self) -> bool:
        return self.path == MEMORY or (not self.read_only and threading.get_ident() == self._owner)

    def _try(self) -> None:
        """Raises what is wrong with a file that is only read."""
        try:
            self._read(lambda reader: None)
        except BaseException:
            self.close()
            raise

    @cached_property
    def _main(self) -> apsw.Connection:
        """The writer; of a file that is only read it is there for who tries to write, and is told that he cannot."""
        return open_reader(self.path, vectors=False) if self.read_only else self._open()

    def _open(self) -> apsw.Connection:
        return open_writer(self.path)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, UnicodeError, OverflowError) as error:
            raise self._explain(error) from error

    def _explain(self, error: Exception) -> ClawmemError:
        if isinstance(error, UnicodeEncodeError):
            return InvalidInput("INVALID_INPUT", "The text holds half a character. Give it as valid Unicode.")
        if isinstance(error, OverflowError):
            return InvalidInput("OUT_OF_BOUNDS", f"A number is larger than {_LARGEST}. Give a smaller one.")
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            return VaultLocked(self.path)
        if (
            isinstance(error, apsw.FullError)
            or _says(error, _FULL)
            or _is_for_want_of_space(error, self.path)
        ):
            return VaultFull(self.path)
        if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
            return VaultReadOnly(self.path)
        if isinstance(error, apsw.CantOpenError):
            return self._unopened()
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_CORRUPT_VTAB or _says(error, _BROKEN):
            return VirtualTableDamaged(self.path, "a virtual table of it is broken")
        corrupt = isinstance(error, apsw.NotADBError | apsw.CorruptError | UnicodeDecodeError)
        broken = corrupt or _says(error, _RECORDS_BROKEN)
        if broken and _is_something_else(self.path):
            was_one = "If it was a vault before, it is damaged. Run: clawmem repair"
            return NotAVault(self.path, "it is not a SQLite database", was_one)
        if broken:
            return VaultDamaged(self.path, "it is not a SQLite database, or a broken one")
        return VaultError(
            self.path, f"{self.path} cannot be used: {error}. Look at it, or choose another --vault."
        )

    def _unopened(self) -> VaultError:
        """Return why SQLite cannot open the file."""
        if not _exists(self.path):
            missing = VaultError(self.path, f"There is no vault at {self.path}.")
            return missing if self.read_only else VaultReadOnly(self.path)
        if not os.access(self.path, os.R_OK, effective_ids=_EFFECTIVE):
            return VaultError(self.path, f"{self.path} cannot be read. Run this as its owner.")
        if self.read_only and not log_is_empty(self.path):
            reason = f"its last changes are in {self.path}-wal, which SQLite reads only in a folder that it may write"
            remedy = "Let its owner run: clawmem status  (or copy both files to a folder of your own.)"
            return VaultError(self.path, f"{self.path} cannot be read: {reason}. {remedy}")
        return VaultReadOnly(self.path)


def _no_more() -> apsw.Connection:
    raise apsw.ConnectionClosedError("it was closed")


_CLOSED = Readers(_no_more)


def is_log_tended(path: str) -> bool:
    """Whether somebody in this process has the file open for writing, for longer than a note takes."""
    return _TENDED[path] > 0


def _says(error: Exception, words: Iterable[str]) -> bool:
    said = str(error)
    return any(one in said for one in words)


def _is_for_want_of_space(error: Exception, path: str) -> bool:
    """Whether *error* comes from a full disk: of memory that is shared through files SQLite says only that it failed."""
    if not isinstance(error, apsw.IOError | apsw.CantOpenError) or os.name == "nt":
        return False
    if getattr(error, "extendedresult", 0) in (apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE):
        return True
    with suppress(OSError):
        found = os.statvfs(os.path.dirname(path) or ".")  # noqa: PTH120
        return found.f_bavail == 0 and found.f_blocks > 0
    return False


def _is_something_else(path: str) -> bool:
    """Whether the file at *path* begins like no SQLite database."""
    with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123
        return file.read(len(_HEADER)) != _HEADER
    return False


def which_file(path: str) -> tuple[int, ...]:
    """What tells the file at *path* from another that takes its place; of none nothing."""
    with suppress(OSError, ValueError):
        found = os.stat(path)  # noqa: PTH116  a prompt would load `pathlib` for it
        return found.st_dev, found.st_ino
    return ()


def _exists(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110
