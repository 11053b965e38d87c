from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path

from filelock import FileLock, Timeout

from clawmem.adapters.tantivy.grain import GrainIndex, best
from clawmem.adapters.tantivy.query_builder import QueryBuilder
from clawmem.ports.errors import (
    ClawmemError,
    IndexBusy,
    IndexDamaged,
    IndexUnavailable,
    InvalidInput,
    VaultReadOnly,
)
from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Marker, Scope, Term

PATIENCE_S = 10.0
_MARKER = "marker.json"
_NEXT_MARKER = "marker.json.next"


@dataclass(slots=True)
class Changes:
    """The changes of one commit, to be applied in this order: clear, remove documents, add entries."""

    clear: bool = False
    removed: set[int] = field(default_factory=set)
    entries: dict[int, dict[tuple[Grain, int], LexicalEntry]] = field(default_factory=dict)  # by document


class TantivyLexicalIndex:
    """
    ``LexicalIndex`` in tantivy, with a separate index and folder for each granularity.

    The changes of a block are collected and passed to tantivy at its end, so the write lock is held only for
    the commit. Each search uses a view of the last commit, so several threads can share one handle.

    Each granularity commits separately, so their common marker is a file that is replaced atomically after
    the last of these commits: if the process dies in between, some granularities are ahead of the marker and
    none is behind, and changes after the marker can safely be applied again. The marker file also contains
    the commit number of each granularity, which reveals one that was restored or lost since.
    """

    method = "tantivy"

    def __init__(self, folder: str, *, read_only: bool = False, patience_s: float = PATIENCE_S) -> None:
        """
        Open the index in *folder*; missing parts are created unless *read_only*.

        Args:
            patience_s: How long a commit waits for the end of another one, in seconds.

        Raises:
            IndexDamaged: the index is damaged or has another layout, or is missing and *read_only*.
            IndexUnavailable: the operating system refuses access. Reading also needs permission to lock
                files.
        """
        self._folder = Path(folder)
        self._read_only = read_only
        self._lock = FileLock(self._folder / "write.lock", timeout=patience_s)
        self._changes: Changes | None = None
        with translated(folder):
            if read_only and not self._folder.exists():
                raise IndexDamaged(folder, "it is missing")
            self._grains = {
                grain: GrainIndex(self._folder / grain, may_create=not read_only) for grain in Grain
            }

    # -- writing ------------------------------------------------------------------------------------

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._read_only:
            raise VaultReadOnly(str(self._folder))
        if self._changes is not None:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        self._changes = Changes()
        try:
            yield
            changes = self._changes
        finally:
            self._changes = None
        with self._locked():
            self._commit(changes, marker)

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._change():
            assert self._changes is not None
            for entry in entries:
                document = self._changes.entries.setdefault(entry.key.document_id, {})
                document[entry.grain, entry.key.seq] = entry

    def remove(self, document_id: int) -> None:
        with self._change():
            assert self._changes is not None
            self._changes.removed.add(document_id)
            self._changes.entries.pop(document_id, None)

    def clear(self) -> None:
        with self._change():
            self._changes = Changes(clear=True)

    def optimize(self) -> None:
        """Run due merges, and delete files left by a killed process."""
        if self._read_only:
            raise VaultReadOnly(str(self._folder))
        with self._locked():
            for index in self._grains.values():
                with index.writing() as writer:
                    writer.commit()

    # -- reading ------------------------------------------------------------------------------------

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        if limit < 1:
            return []
        with translated(str(self._folder)):
            searcher = self._grains[grain].searcher()
            question = QueryBuilder(searcher).query(query, scope)
            return [] if question is None else best(searcher, question, limit)

    def count(self, grain: Grain) -> int:
        with translated(str(self._folder)):
            return self._grains[grain].searcher().num_docs

    def holding(self, term: Term, grain: Grain) -> int:
        with translated(str(self._folder)):
            return QueryBuilder(self._grains[grain].searcher()).holding(term)

    def marker(self) -> Marker | None:
        with translated(str(self._folder)):
            marker, commits = self._stored_marker()
            return None if self._older_than(commits) else marker

    def faults(self) -> list[str]:
        try:
            with translated(str(self._folder)):
                _, commits = self._stored_marker()
                older = [
                    f"the grain {g.value!r} is older than the index's marker"
                    for g in self._older_than(commits)
                ]
                return older or [fault for index in self._grains.values() for fault in index.faults()]
        except IndexDamaged as error:
            return [error.reason]

    def close(self) -> None:
        """Release the files; the write lock is never held between commits."""
        self._grains.clear()

    # -- helpers ----------------------------------------------------------------------------------------

    def _change(self) -> AbstractContextManager[None]:
        """Return the open block, or a new one for a single change."""
        return self.committing() if self._changes is None else nullcontext()

    def _commit(self, changes: Changes, marker: Marker | None) -> None:
        entries: dict[Grain, list[LexicalEntry]] = {grain: [] for grain in Grain}
        for document in changes.entries.values():
            for (grain, _), entry in document.items():
                entries[grain].append(entry)
        with ExitStack() as stack:
            staged = []
            for grain, index in self._grains.items():
                if changes.clear or changes.removed or entries[grain]:
                    writer = stack.enter_context(index.writing())
                    if index.stage(writer, entries[grain], changes.removed, clear=changes.clear):
                        staged.append(writer)
            old, _ = self._stored_marker()
            goes_back = old and marker and (old.vault != marker.vault or old.seq > marker.seq)
            if changes.clear or goes_back:
                # between the commits of two granularities the marker would claim too much
                (self._folder / _MARKER).unlink(missing_ok=True)
            for writer in staged:
                writer.commit()
        if marker is not None:
            self._store_marker(marker)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the write lock of the index. Raises `IndexBusy` if another commit does not end in time."""
        with translated(str(self._folder)):
            try:
                self._lock.acquire()
            except Timeout as error:
                raise IndexBusy(str(self._folder)) from error
            try:
                yield
            finally:
                self._lock.release()

    def _stored_marker(self) -> tuple[Marker | None, dict[Grain, int]]:
        """Return the marker, and the commit number of each granularity when it was stored."""
        try:
            content = json.loads((self._folder / _MARKER).read_bytes())
            commits = {Grain(name): int(number) for name, number in content["commits"].items()}
            return Marker(**content["marker"]), commits
        except FileNotFoundError:
            return None, {}
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise IndexDamaged(str(self._folder), "its marker makes no sense") from error

    def _store_marker(self, marker: Marker) -> None:
        commits = {grain: index.commits() for grain, index in self._grains.items()}
        with (self._folder / _NEXT_MARKER).open("w", encoding="utf-8") as file:
            json.dump({"marker": marker._asdict(), "commits": commits}, file)
            file.flush()
            os.fsync(file.fileno())
        (self._folder / _NEXT_MARKER).replace(self._folder / _MARKER)

    def _older_than(self, commits: dict[Grain, int]) -> list[Grain]:
        """Return granularities with fewer commits than that, because they were restored or rebuilt."""
        return [grain for grain, index in self._grains.items() if index.commits() < commits.get(grain, 0)]


# An error of the operating system may be temporary, except "not found" (code 2).
_REFUSED = re.compile(r'Os \{ code: (?!2,)\d{1,9}.{0,200}?message: "(?P<reason>[^"]+)"')


@contextmanager
def translated(folder: str) -> Iterator[None]:
    """Raise tantivy's errors inside the block as errors of the ports, for the index in *folder*."""
    try:
        yield
    except ClawmemError:
        raise
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "INVALID_INPUT", "The text holds half a character. Give it as valid Unicode."
        ) from error
    except (JSONDecodeError, UnicodeDecodeError, FileNotFoundError, NotADirectoryError) as error:
        raise IndexDamaged(folder, "one of its files is missing or damaged") from error
    except OSError as error:
        raise IndexUnavailable(folder, error.strerror or str(error)) from error
    except BaseException as error:
        # tantivy raises ValueError for everything, and an exception that does not derive from Exception for a panic.
        if not isinstance(error, ValueError) and type(error).__name__ != "PanicException":
            raise
        if refused := _REFUSED.search(str(error)):
            raise IndexUnavailable(folder, refused["reason"]) from error
        first_line = str(error).partition("\n")[0]
        raise IndexDamaged(folder, f"its files are damaged ({first_line[:200]})") from error
