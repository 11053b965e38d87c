from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from clawmem.adapters.tantivy.changes import PendingChanges, best
from clawmem.adapters.tantivy.grain import GrainIndex, GrainWriter
from clawmem.adapters.tantivy.query_builder import QueryBuilder, within
from clawmem.adapters.tantivy.soundness import file_faults, ranking_faults
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


class TantivyLexicalIndex:
    """
    ``LexicalIndex`` in tantivy, with a separate index and folder for each granularity.

    The changes of a block are collected and passed to tantivy at its end, so the write lock is held only for
    the commit. Each search uses a view of the last commit, so several threads can share one handle.
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
        self._folder = folder
        self._read_only = read_only
        self._patience_s = patience_s
        self._pending: PendingChanges | None = None
        root = Path(folder)
        self._marker = MarkerFile(root)
        with translated(folder):
            refuse_others(root, may_make=not read_only)
            self._grains = {grain: open_grain(root / grain, may_make=not read_only) for grain in Grain}

    # -- writing ------------------------------------------------------------------------------------

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        with self._block(marker):
            yield

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._change() as pending:
            pending.put(entries)

    def remove(self, document_id: int) -> None:
        with self._change() as pending:
            pending.remove(document_id)

    def clear(self) -> None:
        with self._change() as pending:
            pending.clear()

    def optimize(self) -> None:
        """Run due merges, and delete files left by a killed process."""
        self._refuse_reader()
        with translated(self._folder), self._writers(Grain) as writers:
            for writer in writers.values():
                writer.tidy()

    # -- reading ------------------------------------------------------------------------------------

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        if limit < 1:
            return []
        with translated(self._folder):
            searcher = self._grains[grain].searcher()
            asked = QueryBuilder(searcher).query(query)
            return [] if asked is None else best(searcher, within(asked, scope), limit)

    def count(self, grain: Grain) -> int:
        with translated(self._folder):
            return self._grains[grain].searcher().num_docs

    def holding(self, term: Term, grain: Grain) -> int:
        with translated(self._folder):
            return QueryBuilder(self._grains[grain].searcher()).holding(term)

    def marker(self) -> Marker | None:
        with translated(self._folder):
            written = self._marker.read()
            if written is None or self._behind(written[1]):
                return None
            return written[0]

    # -- maintenance ------------------------------------------------------------------------------------

    def faults(self) -> list[str]:
        root = Path(self._folder)
        try:
            with translated(self._folder):
                spoilt = [fault for grain in Grain for fault in file_faults(root / grain)]
                return [*ranking_faults(), *spoilt, *self._marker_faults()]
        except IndexDamaged as error:
            return [error.reason]

    def close(self) -> None:
        """Release the files; the write lock is never held between commits."""
        self._grains.clear()

    # -- helpers ----------------------------------------------------------------------------------------

    def _change(self) -> AbstractContextManager[PendingChanges]:
        return self._block(None) if self._pending is None else nullcontext(self._pending)

    @contextmanager
    def _block(self, marker: Marker | None) -> Iterator[PendingChanges]:
        self._refuse_reader()
        if self._pending is not None:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        self._pending = pending = PendingChanges()
        try:
            yield pending
        finally:
            self._pending = None
        with translated(self._folder):
            self._commit(pending, marker)

    def _commit(self, pending: PendingChanges, marker: Marker | None) -> None:
        changes = {grain: change for grain in Grain if (change := pending.of(grain))}
        if not changes and marker is None:
            return
        # With a marker all granularities are locked, so that no other commit comes between the first commit
        # and the marker.
        with self._writers(Grain if marker else changes) as writers:
            for grain, change in changes.items():
                writers[grain].stage(change)
            if pending.cleared or (marker is not None and self._goes_back(marker)):
                # between the commits of two granularities the marker would claim too much
                self._marker.withdraw()
            for grain in changes:
                writers[grain].commit()
            if marker is not None:
                self._marker.write(marker, {grain: part.commits() for grain, part in self._grains.items()})

    @contextmanager
    def _writers(self, grains: Iterable[Grain]) -> Iterator[dict[Grain, GrainWriter]]:
        # All processes lock in the order of Grain, which prevents deadlocks.
        with ExitStack() as held:
            try:
                writers = {
                    grain: held.enter_context(self._grains[grain].writing(self._patience_s))
                    for grain in grains
                }
            except IndexBusy:
                raise IndexBusy(self._folder) from None
            yield writers

    def _refuse_reader(self) -> None:
        if self._read_only:
            raise VaultReadOnly(self._folder)

    def _goes_back(self, marker: Marker) -> bool:
        written = self._marker.read()
        return written is not None and (written[0].vault != marker.vault or written[0].seq > marker.seq)

    def _behind(self, commits: dict[Grain, int]) -> list[Grain]:
        """Return granularities with fewer commits than the marker records, because they were restored or rebuilt."""
        return [grain for grain, part in self._grains.items() if part.commits() < commits.get(grain, 0)]

    def _marker_faults(self) -> list[str]:
        written = self._marker.read()
        behind = self._behind(written[1]) if written else []
        return [f"the grain {grain.value!r} is older than the index's marker" for grain in behind]


def refuse_others(root: Path, *, may_make: bool) -> None:
    """Raise an error unless *root* is an index, a partly created index, or does not exist."""
    if not root.exists():
        if may_make:
            return
        raise IndexDamaged(str(root), "it is missing")
    if not root.is_dir():
        raise IndexDamaged(str(root), "it is not a folder")
    ours = {*Grain, *MarkerFile.names}
    others = sorted(path.name for path in root.iterdir() if path.name not in ours)
    if others:
        raise IndexDamaged(str(root), f"it contains other files ({others[0]})")


def open_grain(folder: Path, *, may_make: bool) -> GrainIndex:
    """Open the index in *folder*; create it if it does not exist and *may_make* is true."""
    is_made = (folder / "meta.json").exists()
    # A process that dies while creating an index leaves files whose names begin with a dot.
    if not is_made and not may_make:
        raise IndexDamaged(str(folder), "it is missing")
    if not is_made and folder.exists() and any(not path.name.startswith(".") for path in folder.iterdir()):
        raise IndexDamaged(str(folder), "its list of files is missing")
    folder.mkdir(parents=True, exist_ok=True)
    return GrainIndex(folder)


# tantivy raises ValueError for everything, including invalid arguments; these messages are about its files.
_FILES = re.compile(
    "Failed to open|does not exist|Failed to acquire|IO error|in a thread|Data corrupted|Schema error|compatible|FastField error"
)
# An error of the operating system may be temporary, except "not found" (code 2).
_REFUSED = re.compile(r'Os \{ code: (?!2,)\d{1,9}.{0,200}?message: "(?P<reason>[^"]+)"')
_OTHER_SCHEMA = "schema does not match"


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise tantivy's errors inside the block as errors of the ports, for the index at *place*."""
    try:
        yield
    except ClawmemError:
        raise
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "INVALID_INPUT", "The text holds half a character. Give it as valid Unicode."
        ) from error
    except (JSONDecodeError, UnicodeDecodeError) as error:
        raise IndexDamaged(place, "one of its files is not valid JSON") from error
    except ValueError as error:
        if not _FILES.search(str(error)):
            raise
        raise _explained(place, str(error)) from error
    except FileNotFoundError as error:
        raise IndexDamaged(place, "one of its files is missing") from error
    except OSError as error:
        raise IndexUnavailable(place, error.strerror or str(error)) from error
    except BaseException as error:
        # A panic of tantivy on invalid bytes, which does not derive from Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise _explained(place, str(error)) from error


def _explained(place: str, said: str) -> ClawmemError:
    if refused := _REFUSED.search(said):
        return IndexUnavailable(place, refused["reason"])
    if _OTHER_SCHEMA in said:
        return IndexDamaged(place, "another version of clawmem wrote it")
    first_line, _, _ = said.partition("\n")
    return IndexDamaged(place, f"its files are damaged ({first_line[:200]})")


class MarkerFile:
    """
    The common marker of the indexes of all four granularities.

    Each granularity commits separately, so the marker cannot be part of these commits. It is replaced
    atomically after the last of them: if the process dies in between, some granularities are ahead of the
    marker and none is behind, and changes after the marker can safely be applied again. The marker file also
    records the commit number of each granularity, which reveals one that was restored or lost since.

    The file lies outside the folders of the granularities, where tantivy would count it as an entry.
    """

    names = ("marker.json", "marker.json.next")

    def __init__(self, folder: Path) -> None:
        self._path = folder / self.names[0]
        self._next = folder / self.names[1]

    def read(self) -> tuple[Marker, dict[Grain, int]] | None:
        """
        Return the marker and the commit number of each granularity, or ``None`` if there is none.

        Raises:
            IndexDamaged: the file is no marker.
        """
        try:
            return _parsed(json.loads(self._path.read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise IndexDamaged(str(self._path.parent), "its marker makes no sense") from error

    def write(self, marker: Marker, commits: Mapping[Grain, int]) -> None:
        """Replace the marker durably."""
        text = json.dumps({"marker": marker._asdict(), "commits": dict(commits)})
        with self._next.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._next.replace(self._path)
        _keep_name(self._path.parent)

    def withdraw(self) -> None:
        """Delete the marker durably."""
        self._path.unlink(missing_ok=True)
        _keep_name(self._path.parent)


def _parsed(written: Any) -> tuple[Marker, dict[Grain, int]]:
    commits = {Grain(name): int(number) for name, number in written["commits"].items()}
    return Marker(**written["marker"]), commits


def _keep_name(folder: Path) -> None:
    # A new name survives a power failure only after its folder is synced; Windows does that automatically.
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
