"""Exact search for the nearest vectors of a set of rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import unpack
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.adapters.sqlite.short_vectors import BYTES, as_matrix
from clawmem.ports.errors import BadVector
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_ROWS_AT_ONCE = 1024  # bounds the memory of a scan for vaults of any size
# 512 rows of 256 dimensions in single precision are half a megabyte, which fits the CPU cache
_ROWS_IN_CACHE = 512
_ROUNDING = 1e-5  # upper bound of the error of a product in single precision

# Reads the vectors in file order; the index on their texts would read the file at random positions.
RECORDED = """(
    select key, vector from space_vectors not indexed cross join fragments using (text_hash)
      join documents on documents.id = key >> 20 and documents.inactive is null
     where space = (select id from spaces where state = 'serving')
)"""


class RowFilter(NamedTuple):
    """The rows of a scan: those in a scope, of some documents (None for all)."""

    scope: Scope = EVERYTHING
    documents: Collection[int] | None = None

    def rows(self, source: str) -> tuple[str, dict[str, str]]:
        """Return SQL for the rows of *source*, with its bindings."""
        seen, bindings = documents_in(self.scope)
        limits = [f"key >> 20 in ({seen})"] if seen else []
        if self.documents is not None:
            limits.append("key >> 20 in (select value from json_each(:documents))")
            bindings["documents"] = json.dumps(list(self.documents))
        return f"{source} where {' and '.join(limits) or 'true'}", bindings


EVERY_ROW = RowFilter()


def nearest(
    db: Database, source: str, vector: Vector, limit: int, among: RowFilter
) -> list[tuple[int, float]]:
    """Return the keys of at least the *limit* rows of *source* nearest to *vector*, with their cosines."""
    import numpy as np

    question = np.frombuffer(vector, "<f4")
    question = question / np.linalg.norm(question)  # shape (dim,)
    close: list[tuple[int, bytes]] = []
    best = np.empty(0, np.float32)  # products of the *limit* nearest rows so far
    bar = -np.inf  # the least of them
    for rows in batches(db, source, among):
        stored = b"".join([vector for _, vector in rows])
        if len(stored) != BYTES * len(question) * len(rows):  # a damaged vector, which `cosines` leaves out
            close += rows
            continue
        near = _products(as_matrix(stored, len(question)), question)  # shape (n,)
        best = np.concatenate((best, near))
        if limit < len(best):
            best = np.partition(best, -limit)[-limit:]
            bar = best[0]
        # both a product and the bar may be off
        close += [rows[place] for place in np.flatnonzero(near >= bar - 2 * _ROUNDING)]
    return cosines(vector, close)


def cosines(vector: Vector, rows: Sequence[tuple[Any, ...]]) -> list[tuple[int, float]]:
    """
    Return the keys of *rows* with their cosines to *vector*; rows of damaged vectors, which have none, are left out.

    A cosine does not depend on the other rows: double precision is exact enough for one result in single precision.
    """
    import numpy as np

    question = np.frombuffer(vector, "<f4").astype("f8")
    sound = [(key, stored) for key, stored in rows if len(stored) == BYTES * len(question)]
    joined = b"".join([stored for _, stored in sound])
    vectors = as_matrix(joined, len(question)).astype("f8")  # shape (n, dim)
    norms = np.linalg.norm(vectors, axis=1)
    products = vectors @ (question / np.linalg.norm(question))
    scores = (products / np.maximum(norms, 1)).astype("f4").clip(-1, 1).tolist()
    return [(key, score) for (key, _), score, norm in zip(sound, scores, norms, strict=True) if norm]


def _products(rows: npt.NDArray[np.int16], question: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the cosine of each row in single precision, (n,)."""
    import numpy as np

    products = np.empty(len(rows), np.float32)
    # one buffer for all parts, because allocating pages is expensive
    room = np.empty((_ROWS_IN_CACHE, len(question)), np.float32)
    for first in range(0, len(rows), _ROWS_IN_CACHE):
        part = rows[first : first + _ROWS_IN_CACHE]
        numbers = room[: len(part)]
        np.copyto(numbers, part)
        norms = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
        products[first : first + len(part)] = numbers @ question / np.maximum(norms, 1)
    return products


def batches(db: Database, source: str, among: RowFilter = EVERY_ROW) -> Iterator[list[tuple[int, bytes]]]:
    """Iterate over the keys of *source* with their stored vectors, in batches of some thousand."""
    rows, bindings = among.rows(source)
    with db.connection() as connection:  # without `Database.stream`, which takes a third of the time
        cursor = connection.execute(f"select key, vector from {rows}", bindings)
        while batch := list(islice(cursor, _ROWS_AT_ONCE)):
            yield cast("list[tuple[int, bytes]]", batch)


def ranked(vector: Vector, size: int, limit: int, find: Callable[[], list[tuple[int, float]]]) -> list[Hit]:
    """
    Return the hits of *find*, best first; an empty list for a query that cannot have a result.

    Raises:
        BadVector: *vector* does not have the dimensions of the stored vectors, which have *size* bytes.
    """
    if limit < 1 or not size or not any(vector):
        return []
    if len(vector) // 4 != size // BYTES:
        raise BadVector(
            f"the question has {len(vector) // 4} dimensions, the vault's vectors {size // BYTES}"
        )
    # Equal scores are ordered by key.
    hits = [Hit(unpack(key), score) for key, score in find()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]
