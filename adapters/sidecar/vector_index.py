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

EXACT_ROWS = 100_000  # comparing all of them takes about 10 ms of 256 dimensions
# Of each segment. Where many texts are nearly alike fewer are not enough: at 300 000 such passages 4000 gave
# recall@10 .92 and 16 000 .98, at a million one in twenty-five .98, for 10 ms.
CANDIDATES = 16_000
ONE_CANDIDATE_IN = 25  # vectors


class SidecarVectorIndex:
    """
    ``VectorIndex`` in memory-mapped files: exact while few rows are in scope, by bit codes and exact scores beyond.

    Reading takes no lock: a commit writes new files and then replaces one small manifest, which every call looks
    at first. Rows that were replaced or removed stay in their file, marked, until files are merged.
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
        Args:
            folder: Made when it is missing, unless *read_only*.
            exact_rows: Up to how many vectors in scope every one is compared.
            oversample: How many candidates for each hit that is asked for, beyond that; at least `CANDIDATES`.
            patience_s: How long a commit waits for that of another process.

        Raises:
            IndexDamaged: it is there and cannot be used, or it is not there and *read_only*.
            IndexUnavailable: the place cannot be reached or written.
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
        """Of a search in everything, as far as this handle has seen."""
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
        from clawmem.adapters.sidecar.nearest import Reach, nearest
        from clawmem.adapters.sidecar.unit_vectors import question_vector

        question = question_vector(vector, snapshot.manifest.dimensions)
        if question is None or limit < 1:
            return []
        reach = Reach(self._exact_rows, self._candidates(snapshot.manifest.count, limit))
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
        self._seen = None  # what is mapped is given back with the last array over it

    def _current(self) -> Snapshot:
        """
        The last commit of whichever process.

        The whole manifest is read and compared: two commits within a tick of the clock may leave the same stamp.
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
                if self._folder.manifest() == stored:  # else a commit came between, and swept
                    missing = f"{error.filename} is missing"
                    raise IndexDamaged(self._folder.path, missing) from error

    def _damaged_files(self) -> list[str]:
        while True:
            snapshot = self._current()
            files = snapshot.manifest.files()
            damaged = [file.name for file in files if not self._folder.is_as_written(file)]
            if not damaged or self._folder.manifest() == snapshot.stored:
                return damaged  # else a commit came between, and swept

    @contextmanager
    def _changing(self) -> Iterator[Draft]:
        """The open commit, or one for this change alone."""
        if self._draft is not None:
            yield self._draft
            return
        with self.committing():
            assert self._draft is not None  # `committing` has just made it
            yield self._draft

    @contextmanager
    def _writing(self) -> Iterator[Snapshot]:
        """The last commit, while nobody else makes another."""
        if self._read_only:
            raise VaultReadOnly(self._folder.path)
        with self._folder.writing():
            base = self._current()
            self._folder.sweep(base.manifest)  # first, what a writer has left that failed: room may be short
            yield base
            self._folder.sweep(self._current().manifest)
