from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clawmem.adapters.sidecar.folder import Folder
from clawmem.adapters.sidecar.snapshot import Snapshot
from clawmem.ports.errors import IndexDamaged, VaultError, VaultReadOnly
from clawmem.ports.records import EVERYTHING, Hit, Marker, Scope, Vector, VectorEntry

if TYPE_CHECKING:
    from clawmem.adapters.sidecar.draft import Draft

EXACT_ROWS = 100_000  # comparing all of them takes about 10 ms at 256 dimensions
# Minimum per segment. Fewer are not enough for many similar texts: at 300 000 similar passages 4000
# candidates gave a recall@10 of .92 and 16 000 gave .98; at a million passages one in twenty-five gave .98,
# in 10 ms.
CANDIDATES = 16_000
ONE_CANDIDATE_IN = 25  # vectors


class SidecarVectorIndex:
    """
    ``VectorIndex`` in memory-mapped files: exhaustive for few rows in scope, bit codes with exact rescoring
    for more.

    Reading takes no lock: a commit writes new files and then replaces a small manifest, which every call
    reads first. Replaced and deleted rows stay in their file, marked as deleted, until files are merged.
    """

    def __init__(
        self,
        folder: str,
        *,
        read_only: bool = False,
        exact_rows: int = EXACT_ROWS,
        oversample: int = 150,
        patience_s: float = 10.0,
    ) -> None:
        """
        Open the index.

        Args:
            folder: Created if it does not exist, unless *read_only*.
            exact_rows: Number of vectors in scope up to which all are compared.
            oversample: Candidates per requested hit above that number; at least `CANDIDATES` in total.
            patience_s: How long a commit waits for one of another process, in seconds.

        Raises:
            IndexDamaged: the index is damaged, or is missing and *read_only*.
            IndexUnavailable: the folder cannot be reached or written.
        """
        self._folder = Folder(folder, patience_s)
        self._read_only = read_only
        self._exact_rows = exact_rows
        self._oversample = oversample
        self._draft: Draft | None = None
        if not read_only:
            self._folder.make()
        self._seen: Snapshot | None = None
        self._current()

    @property
    def method(self) -> str:
        """Method of a search without scope, based on the last state that this handle has seen."""
        is_exact = self._seen is None or self._seen.manifest.count <= self._exact_rows
        return "sidecar, exact" if is_exact else "sidecar, bit codes"

    def marker(self) -> Marker | None:
        return self._current().manifest.marker

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._draft is not None:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        from clawmem.adapters.sidecar.draft import Draft

        with self._writing() as base:
            self._draft = draft = Draft(self._folder, base)
            try:
                yield
                manifest = draft.finish(marker)
            finally:
                self._draft = None
            if manifest != base.manifest:
                self._folder.publish(manifest)

    def put(self, entries: Iterable[VectorEntry]) -> None:
        batch = list(entries)
        if batch:
            with self._changing() as draft:
                draft.put(batch)

    def remove(self, document_id: int) -> None:
        with self._changing() as draft:
            draft.remove(document_id)

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        snapshot = self._current()
        if not snapshot.manifest.count:
            return []
        from clawmem.adapters.sidecar.nearest import SearchLimits, nearest
        from clawmem.adapters.sidecar.unit_vectors import question_vector

        question = question_vector(vector, snapshot.manifest.dimensions)
        if question is None or limit < 1:
            return []
        reach = SearchLimits(self._exact_rows, self._candidates(snapshot.manifest.count, limit))
        return nearest(snapshot.segments, question, limit, scope, reach)

    def _candidates(self, count: int, limit: int) -> int:
        return max(CANDIDATES, count // ONE_CANDIDATE_IN, self._oversample * limit)

    def count(self) -> int:
        return self._current().manifest.count

    def clear(self) -> None:
        with self._changing() as draft:
            draft.clear()

    def optimize(self) -> None:
        with self._changing() as draft:
            draft.merge_all()

    def faults(self) -> list[str]:
        try:
            damaged = self._damaged_files()
        except VaultError as error:
            return [str(error)]
        return [f"{name} in {self._folder.path} is not as it was written." for name in damaged]

    def close(self) -> None:
        self._seen = None  # a mapping is released with the last array that uses it

    def _current(self) -> Snapshot:
        """
        Return a snapshot of the last commit of any process.

        The whole manifest is compared, because two commits within one clock tick may have the same timestamp.
        """
        while True:
            stored = self._folder.manifest()
            seen = self._seen
            if seen is not None and seen.stored == stored:
                return seen
            try:
                self._seen = seen = Snapshot(self._folder, stored, seen.files if seen else {})
                return seen
            except FileNotFoundError as error:
                # otherwise another process has committed and deleted files in between
                if self._folder.manifest() == stored:
                    missing = f"{error.filename} is missing"
                    raise IndexDamaged(self._folder.path, missing) from error

    def _damaged_files(self) -> list[str]:
        while True:
            snapshot = self._current()
            files = snapshot.manifest.files()
            damaged = [file.name for file in files if not self._folder.is_intact(file)]
            if not damaged or self._folder.manifest() == snapshot.stored:
                return damaged  # otherwise another process has committed and deleted files in between

    @contextmanager
    def _changing(self) -> Iterator[Draft]:
        """Yield the draft of the open commit, or of a commit for this change alone."""
        if self._draft is not None:
            yield self._draft
            return
        with self.committing():
            assert self._draft is not None  # `committing` has just created it
            yield self._draft

    @contextmanager
    def _writing(self) -> Iterator[Snapshot]:
        """Hold the write lock and yield the last commit."""
        if self._read_only:
            raise VaultReadOnly(self._folder.path)
        with self._folder.writing():
            base = self._current()
            # first delete files of a failed writer, because the disk may be nearly full
            self._folder.sweep(base.manifest)
            yield base
            self._folder.sweep(self._current().manifest)
