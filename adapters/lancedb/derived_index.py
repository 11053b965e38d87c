"""The place of LanceDB tables, their errors, and the base class of both indexes."""

import os
import re
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import lancedb
import pyarrow as pa
from lancedb.index import Bitmap, BTree

from clawmem.ports.errors import (
    IndexBusy,
    IndexDamaged,
    IndexUnavailable,
    VaultError,
    VaultFull,
    VaultReadOnly,
)
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import FragmentKey, Grain, Hit, LexicalEntry, Marker, Scope, VectorEntry

# LanceDB logs to standard error by default, which belongs to the user; errors are raised as exceptions.
os.environ.setdefault("LANCEDB_LOG", "error")

# Seconds for the first requests of a search, less than its deadline. LanceDB repeats them twelve times with any option.
ANSWER_WITHIN = 3.0
# LanceDB's default for a request to an object store is three minutes.
_TIMEOUTS = {
    "connect_timeout": "2s",
    "timeout": "5s",
    "client_max_retries": "1",
    "client_retry_timeout": "5s",
}
# LanceDB raises RuntimeError, ValueError or OSError for everything; only the message tells the cause.
_CONFLICT = re.compile(r"conflict|concurrent(ly)? (writer|modif)", re.IGNORECASE)
_UNAVAILABLE = re.compile(
    r"RetryError|HttpError|error sending request|timed out|permission ?denied|unauthenticated|forbidden"
    r"|status code: 5\d\d|\bstatus: (5\d\d|403|401)|connection (refused|reset)|too many open files",
    re.IGNORECASE,
)
_SOURCE_LINE = re.compile(r",? ?/\S{1,300}?\.rs:\d+(:\d+)?")


@dataclass(frozen=True, slots=True)
class TableStore:
    """A folder or an object store with the tables of one generation of an index."""

    uri: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_remote(self) -> bool:
        """Whether the tables are in an object store instead of a folder."""
        return "://" in self.uri

    def connect(self) -> Any:
        """Return a connection of LanceDB. Raises `IndexUnavailable` if the store does not answer."""
        return self.ask(lambda: lancedb.connect(self.uri, storage_options=dict(self.options) or None))

    def ask(self, request: Callable[[], Any]) -> Any:
        """Return the answer to a reading *request*; `IndexUnavailable` if an object store takes `ANSWER_WITHIN`."""
        with translated(self.uri):
            if not self.is_remote:
                return request()
            answer: Future[Any] = Future()

            def run() -> None:
                try:
                    answer.set_result(request())
                except BaseException as error:  # noqa: BLE001  raised in the waiting thread
                    answer.set_exception(error)

            Thread(target=run, daemon=True).start()  # one of a pool would keep the process alive
            try:
                return answer.result(ANSWER_WITHIN)
            except FutureTimeout as error:
                raise IndexUnavailable(self.uri, f"no answer within {ANSWER_WITHIN:g} seconds") from error

    def discard(self) -> None:
        """Delete all tables permanently, even if they are damaged."""
        if not self.is_remote:
            shutil.rmtree(self.uri, ignore_errors=True)
            return
        with translated(self.uri):
            self.connect().drop_all_tables()


def store_at(place: IndexPlace) -> TableStore:
    """
    Return the store of *place*: its folder, or its name below the ``uri`` of its options.

    All other options are passed to LanceDB, such as ``timeout``, which is that of a request.
    """
    options = place.options
    if not options.get("uri"):
        return TableStore(place.folder)
    uri = f"{options['uri'].rstrip('/')}/{place.name}"
    if "://" not in uri:
        return TableStore(uri)
    storage = _TIMEOUTS | {name: value for name, value in options.items() if name != "uri"}
    if storage.get("endpoint", "").startswith("http://"):
        storage.setdefault("allow_http", "true")
    return TableStore(uri, storage)


@contextmanager
def translated(uri: str) -> Iterator[None]:
    """Raise LanceDB's errors inside the block as errors of the ports, for the tables at *uri*."""
    try:
        yield
    except VaultError:
        raise
    except (RuntimeError, ValueError, OSError) as error:
        message = str(error)
        if _CONFLICT.search(message):
            raise IndexBusy(uri) from error
        if any(sign in message.lower() for sign in ("no space left", "storage full", "quota exceeded")):
            raise VaultFull(uri) from error
        reason = " ".join(_SOURCE_LINE.sub("", message).split())[:200]
        raise (IndexUnavailable if _UNAVAILABLE.search(message) else IndexDamaged)(uri, reason) from error
    except BaseException as error:
        # LanceDB panics on invalid bytes; one of the two exceptions does not derive from Exception.
        if type(error).__name__ not in ("RustPanic", "PanicException"):
            raise
        raise IndexDamaged(uri, "its files are damaged") from error


Row = Mapping[str, Any]

MARKER_KEY = -1  # of the row that holds the marker; keys of fragments are not negative
# Every commit adds a fragment and a version. Many fragments slow down reading, many versions enlarge the
# folder, and every search scans the rows that LanceDB's indexes lack.
MOST_FRAGMENTS = 32
MOST_UNINDEXED = 1000  # rows
SMALL = 2000  # rows; an optimization of so few takes some tenths of a second
REST = 9  # the pause after an optimization, as a multiple of its duration
KEEP_VERSIONS = timedelta(minutes=10)  # for readers that still use them
SCALAR_INDEX_FROM = 10_000  # rows
_GRAINS = tuple(Grain)
# Columns of both tables: key and scope of a fragment, and the columns of the marker row.
COMMON = (
    *((name, pa.int64()) for name in ("key", "document_id", "seq", "marker_seq")),
    *((name, pa.string()) for name in ("collection", "authored_at", "marker_vault", "marker_epoch")),
)
_BEYOND = 32  # hits requested beyond the limit, because LanceDB cuts equal scores arbitrarily


class LanceIndex(ABC):
    """
    Base class of both indexes: one table, in which each commit is one version.

    LanceDB has no transaction over several statements, but a merge replaces, adds and deletes rows in a
    single step. A block is therefore collected into one merge, which also writes the marker as a row. A
    reader or a killed process never sees a partial commit.
    """

    table_name: ClassVar[str]
    schema: ClassVar[pa.Schema]  # of an empty table

    def __init__(self, place: IndexPlace) -> None:
        self._store = store_at(place)
        self._read_only = place.read_only
        self._is_committing = False
        self._rows: dict[int, dict[int, Row]] = {}  # of the open block, by document and key
        self._removed: set[int] = set()
        self._rest_until = 0.0
        if place.read_only and not self._store.is_remote and not Path(self._store.uri).is_dir():
            raise IndexDamaged(self._store.uri, "it does not exist")
        self._connection = self._store.connect()
        try:
            self._table = self._store.ask(lambda: self._connection.open_table(self.table_name))
        except IndexDamaged as error:
            if place.read_only or "' was not found" not in str(error.__cause__ or error):
                raise
            with translated(self._store.uri):
                self._table = self._connection.create_table(
                    self.table_name, schema=self.schema, exist_ok=True
                )
        if not place.read_only:
            with translated(self._store.uri):
                self._create_indexes(self._table)

    # -- methods of the concrete indexes ----------------------------------------------------------------

    @abstractmethod
    def _create_indexes(self, table: Any, *, renew: bool = False) -> None:
        """
        Create the missing ones of the indexes that a table of this size needs.

        With *renew* replace those that are rebuilt faster than LanceDB merges changes into them.
        """

    @abstractmethod
    def _probe(self, table: Any) -> None:
        """Search with each of LanceDB's indexes, which raises an error for a damaged one."""

    # -- reading ----------------------------------------------------------------------------------------

    def marker(self) -> Marker | None:
        columns = [f"marker_{name}" for name in Marker._fields]
        with self._latest() as table:
            marked = table.search().where(f"key = {MARKER_KEY}").select(columns).limit(1)
            rows = marked.to_arrow().to_pylist()
        return Marker(*(rows[0][column] for column in columns)) if rows else None

    def faults(self) -> list[str]:
        try:
            with self._latest() as table:
                everything = table.search().limit(table.count_rows() + 1)
                keys: list[int] = []
                for batch in everything.to_batches():  # every column of every row, so every data file is read
                    keys += (key for key in batch["key"].to_pylist() if key >= 0)
                if surplus := len(keys) - len(set(keys)):
                    return [f"{surplus} entries of the LanceDB table are there more than once."]
                self._probe(table)
                return []
        except VaultError as error:
            return [str(error)]

    @contextmanager
    def _latest(self) -> Iterator[Any]:
        """Yield the table at its latest version, as a handle stays at its version otherwise; errors are translated."""
        self._store.ask(self._table.checkout_latest)
        with translated(self._store.uri):
            yield self._table

    # -- commits ----------------------------------------------------------------------------------------

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._is_committing:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        self._refuse_reader()
        self._is_committing = True
        try:
            yield
            rows = [row for document in self._rows.values() for row in document.values()]
            if not rows and not self._removed and marker is None:
                return
            with self._latest() as table:
                self._apply(table, self._removed, rows, marker)
        finally:
            self._is_committing, self._rows, self._removed = False, {}, set()
        with suppress(VaultError), translated(self._store.uri):
            self._optimize(self._table, when_due=True)  # if it fails, it is repeated after a later commit

    def remove(self, document_id: int) -> None:
        with self._change():
            self._rows.pop(document_id, None)
            self._removed.add(document_id)

    def _put(self, rows: Iterable[Row]) -> None:
        with self._change():
            for row in rows:
                self._rows.setdefault(row["document_id"], {})[row["key"]] = row

    def _change(self) -> AbstractContextManager[None]:
        return nullcontext() if self._is_committing else self.committing()

    def clear(self) -> None:
        self._refuse_reader()
        with self._latest():
            self._overwrite(schema=self.schema)
            self._create_indexes(self._table)

    def _apply(self, table: Any, removed: set[int], rows: Sequence[Row], marker: Marker | None) -> None:
        doomed = f"document_id in ({', '.join(map(str, sorted(removed)))})" if removed else ""
        if not rows and marker is None:
            table.delete(doomed)
            return
        merge = table.merge_insert("key").when_matched_update_all().when_not_matched_insert_all()
        if doomed:
            merge = merge.when_not_matched_by_source_delete(doomed)
        merge.execute(self._content(rows, marker, table.schema), on_bad_vectors="null")

    def _content(self, rows: Sequence[Row], marker: Marker | None, schema: Any) -> Any:
        """Return rows and marker as one Arrow table. The marker's other columns, and its vector, are null."""
        parts = [self._to_arrow(rows)] if rows else []
        if marker is not None:
            values = {"key": MARKER_KEY, **{f"marker_{name}": v for name, v in marker._asdict().items()}}
            parts.append(pa.Table.from_pylist([values], schema=parts[0].schema if parts else schema))
        return pa.concat_tables(parts)

    def _to_arrow(self, rows: Sequence[Row]) -> Any:
        """Return *rows*, at least one, as an Arrow table."""
        return pa.Table.from_pylist(rows, schema=self.schema)

    def _overwrite(self, **content: Any) -> None:
        """Replace all rows and columns in one version; other handles see it like any other commit."""
        self._table = self._connection.create_table(self.table_name, mode="overwrite", **content)

    def _refuse_reader(self) -> None:
        if self._read_only:
            raise VaultReadOnly(self._store.uri)

    # -- maintenance ------------------------------------------------------------------------------------

    def optimize(self) -> None:
        self._refuse_reader()
        with self._latest() as table:
            self._optimize(table)

    def _optimize(self, table: Any, *, when_due: bool = False) -> None:
        """
        Join small fragments, bring all indexes up to date, and delete old versions.

        *when_due* does so if later searches need it, for a large table in at most a tenth of the time of this process.
        """
        began = time.monotonic()
        if when_due:
            if began < self._rest_until and table.count_rows() > SMALL:
                return
            fragments = table.stats()["fragment_stats"]["num_fragments"]
            statistics = [table.index_stats(index.name) for index in table.list_indices()]
            unindexed = max((index.num_unindexed_rows for index in statistics if index), default=0)
            if fragments <= MOST_FRAGMENTS and unindexed <= MOST_UNINDEXED:
                return
        self._create_indexes(table, renew=True)
        if table.count_rows() >= SCALAR_INDEX_FROM:
            columns = {column for index in table.list_indices() for column in index.columns}
            for column, config in {"key": BTree(), "authored_at": BTree(), "collection": Bitmap()}.items():
                if column not in columns:
                    table.create_index(column, config=config)
        table.optimize(cleanup_older_than=KEEP_VERSIONS)
        now = time.monotonic()
        self._rest_until = now + REST * (now - began)


def scope_columns(entry: LexicalEntry | VectorEntry, grain: Grain = Grain.LINE) -> Row:
    """Return the values of the common columns for an entry; its key is unique in a table."""
    document_id, seq = entry.key
    return {
        "key": (document_id << 20 | seq) * len(_GRAINS) + _GRAINS.index(grain),
        "document_id": document_id,
        "seq": seq,
        "collection": entry.collection,
        "authored_at": entry.authored_at,
    }


def condition(scope: Scope) -> str | None:
    """Return the filter for *scope*, which LanceDB applies before the limit; ``None`` for an unlimited scope."""
    parts = []
    if scope.collections:
        parts.append(f"collection in ({', '.join(map(_quoted, sorted(scope.collections)))})")
    if scope.authored_from is not None:
        day = _quoted(scope.recorded_from or "")
        parts.append(f"(authored_at >= {_quoted(scope.authored_from)} or authored_at = {day})")
    if scope.authored_until is not None:
        parts.append(f"authored_at < {_quoted(scope.authored_until)}")
    if scope.recorded_until is not None:
        parts.append(f"authored_at != {_quoted(scope.recorded_until)}")
    if scope.documents is not None:
        ids = sorted(scope.documents) or [MARKER_KEY]  # LanceDB accepts no empty list
        parts.append(f"document_id in ({', '.join(map(str, ids))})")
    return " and ".join(parts) or None


def best(search: Any, limit: int, score: Callable[[Row], float]) -> list[Hit]:
    """Run *search*, and return the first *limit* hits by the *score* of a row, then key."""
    rows = search.limit(limit + _BEYOND).to_arrow().to_pylist()
    hits = [Hit(FragmentKey(row["document_id"], row["seq"]), score(row)) for row in rows]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
