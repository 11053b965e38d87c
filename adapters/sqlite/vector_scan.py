"""Exact search for the nearest vectors of a set of rows: in C if the vector extension is loaded, else with numpy."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from heapq import nlargest
from itertools import islice
from typing import NamedTuple, cast

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import unpack
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.errors import BadVector
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector

_ROWS_AT_ONCE = 4096  # bounds the memory of a scan for vaults of any size
_NEAREST = "select key, 1 - vec_distance_cosine(vector, :vector) as score from {rows} order by score desc, key limit :limit"

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
    """Return the keys of the *limit* rows of *source* nearest to *vector*, with their cosines."""
    if not db.has_vectors:
        return nlargest(limit, _scored(db, source, vector, among), key=lambda row: (row[1], -row[0]))
    rows, bindings = among.rows(source)
    found = db.rows(_NEAREST.format(rows=rows), {**bindings, "vector": vector, "limit": limit})
    return with_cosine(found)


def with_cosine(rows: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return *rows* without those of damaged vectors, which have no cosine."""
    return [row for row in rows if row[1] is not None]


def batches(db: Database, source: str, among: RowFilter = EVERY_ROW) -> Iterator[list[tuple[int, Vector]]]:
    """Iterate over the keys of *source* with their vectors, in batches of some thousand."""
    rows, bindings = among.rows(source)
    stream = db.stream(f"select key, vector from {rows}", bindings)
    while batch := list(islice(stream, _ROWS_AT_ONCE)):
        yield cast("list[tuple[int, Vector]]", batch)


def _scored(db: Database, source: str, vector: Vector, among: RowFilter) -> Iterator[tuple[int, float]]:
    import numpy as np

    question = np.frombuffer(vector, "<f4")
    question = question / np.linalg.norm(question)  # shape (dim,)
    for rows in batches(db, source, among):
        matrix = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(
            len(rows), -1
        )  # shape (n, dim)
        yield from zip((key for key, _ in rows), np.clip(matrix @ question, -1, 1).tolist(), strict=True)


def ranked(vector: Vector, length: int, limit: int, find: Callable[[], list[tuple[int, float]]]) -> list[Hit]:
    """
    Return the hits of *find*, best first; an empty list for a query that cannot have a result.

    Raises:
        BadVector: *vector* does not have *length* bytes, the length of the stored vectors.
    """
    if limit < 1 or not length or not any(vector):
        return []
    if len(vector) != length:
        raise BadVector(f"the question has {len(vector) // 4} dimensions, the vault's vectors {length // 4}")
    # Equal cosines can differ by a rounding error; for scores equal in single precision the key decides.
    hits = [Hit(unpack(key), score) for key, score in find()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]
