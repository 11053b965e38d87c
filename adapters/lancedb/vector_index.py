from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from clawmem.adapters.lancedb.derived_index import LanceIndex
from clawmem.adapters.lancedb.table import NO_VECTOR, common_fields
from clawmem.adapters.lancedb.translation import Row, best, condition, pack, translated
from clawmem.ports.backend import IndexPlace
from clawmem.ports.errors import BadVector, VaultError
from clawmem.ports.records import EVERYTHING, FragmentKey, Hit, Marker, Scope, Vector, VectorEntry

# Measured on 300 000 passages with 256 dimensions, CPU milliseconds and recall@10 of short queries: an
# inverted file with full vectors 39 and .997 for 40 of 73 partitions; with eight bits per number and exact
# rescoring of the best, 15 and .975.
EXACT_BELOW = 10_000  # vectors; fewer are compared one by one
PARTITION_SIZE = 4096  # LanceDB splits and joins partitions around this size
FEWEST_PROBES = 20  # up to this number all partitions are searched
_PROBED_SHARE = 0.5  # share of partitions above that number
_REFINED = 5  # times the limit: number of candidates that are rescored with full vectors
_SCALAR_FROM = 10_000  # rows from which scalar indexes on scope columns pay off
_EVERY_PARTITION = 1_000_000


class LanceVectorIndex(LanceIndex):
    """
    ``VectorIndex`` in one table: an exhaustive scan of few vectors, an inverted file (IVF) for more.

    Scores are exact in both cases. The inverted file stores eight bits per number, and the best candidates
    are rescored exactly. A search with a scope probes every partition, one without a scope the nearest half.
    """

    table_name: ClassVar[str] = "vectors"

    def __init__(
        self,
        place: IndexPlace,
        *,
        exact_below: int = EXACT_BELOW,
        partition_size: int = PARTITION_SIZE,
        fewest_probes: int = FEWEST_PROBES,
    ) -> None:
        self._exact_below = exact_below
        self._partition_size = partition_size
        self._fewest_probes = fewest_probes
        super().__init__(place)

    @property
    def method(self) -> str:
        with suppress(VaultError):
            return "lancedb exact scan" if self._is_small(self._latest()) else "lancedb ivf"
        return "lancedb"

    def put(self, entries: Iterable[VectorEntry]) -> None:
        entries = list(entries)
        with self._changing() as changes:
            if entries:
                waiting = next(changes.rows(), None)
                length = len(waiting["vector"]) if waiting else self._length(self._latest())
                refuse_bad([entry.vector for entry in entries], length)
            for entry in entries:
                changes.put(entry.key.document_id, pack(entry.key), _row(entry))

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        table = self._latest()
        length = self._length(table)
        if limit < 1 or not length or not any(vector):
            return []
        refuse_bad([vector], length)
        ask = partial(self._nearest, table, vector, condition(scope))
        with translated(self._store.uri):
            return best(ask, limit)

    def count(self) -> int:
        return self._held(self._latest())

    def _nearest(self, table: Any, vector: Vector, where: str | None, limit: int) -> list[Hit]:
        import numpy as np

        question = np.frombuffer(vector, "<f4")  # shape (dim,)
        query = table.search(question, vector_column_name="vector").distance_type("cosine")
        query = query.select(["document_id", "seq", "_distance"]).limit(limit)
        if where:
            query = query.where(where)
        if self._is_small(table):
            query = query.bypass_vector_index()
        else:
            probes = _EVERY_PARTITION if where else self._probes(table, limit)
            query = query.nprobes(probes).refine_factor(_REFINED)
        return _hits(query.to_arrow())

    def _probes(self, table: Any, limit: int) -> int:
        partitions = self._held(table) / self._partition_size
        probes = max(self._fewest_probes, math.ceil(_PROBED_SHARE * partitions))
        return probes if limit * _REFINED < probes * self._partition_size else _EVERY_PARTITION

    def _is_small(self, table: Any) -> bool:
        return self._held(table) < self._exact_below

    def _length(self, table: Any) -> int:
        """Return the length of the stored vectors in bytes; 0 if there are none."""
        with translated(self._store.uri):
            schema = table.schema
        is_settled = "vector" in schema.names and self._held(table) > 0
        return 4 * int(schema.field("vector").type.list_size) if is_settled else 0

    def _apply(self, table: Any, removed: set[int], rows: Sequence[Row], marker: Marker | None) -> None:
        if rows and not self._length(table):
            import pyarrow as pa

            # The first vectors determine the width of the column, so an empty table is recreated with them.
            parts = self._parts(rows, marker or self._marker_of(table), table.schema)
            self._overwrite(data=pa.concat_tables(parts), on_bad_vectors=NO_VECTOR)
        else:
            super()._apply(table, removed, rows, marker)

    def _blank_schema(self) -> Any:
        import pyarrow as pa

        return pa.schema(common_fields())

    def _rows(self, rows: Sequence[Row]) -> Any:
        import pyarrow as pa

        schema = self._blank_schema()
        columns = [
            pa.array([row.get(name) for row in rows], schema.field(name).type) for name in schema.names
        ]
        vectors = [row["vector"] for row in rows]
        return pa.table(
            [*columns, fixed_size(vectors)],
            schema=schema.append(pa.field("vector", vector_type(len(vectors[0])))),
        )

    def _prepare(self, table: Any) -> None:
        """Do nothing: the index is created when there are vectors."""

    def _renew_indexes(self, table: Any, *, all_of_them: bool = False) -> None:
        from lancedb.index import Bitmap, BTree, IvfSq

        if self._is_small(table):
            return
        if table.index_stats("vector_idx") is None:
            config = IvfSq(distance_type="cosine", target_partition_size=self._partition_size)
            table.create_index("vector", config=config)
        elif self._unindexed(table):
            table.optimize()
        if self._held(table) >= _SCALAR_FROM:
            table.create_index("collection", config=Bitmap(), replace=True)
            table.create_index("authored_at", config=BTree(), replace=True)

    def _unindexed(self, table: Any) -> int:
        if self._is_small(table):
            return 0
        statistics = table.index_stats("vector_idx")
        return int(statistics.num_unindexed_rows) if statistics else self._held(table)

    def _faults_of_search(self, table: Any) -> list[str]:
        if length := self._length(table):
            import numpy as np

            question = np.ones(length // 4, "<f4").tobytes()
            self._nearest(table, question, None, 1)
        return []


def _row(entry: VectorEntry) -> Row:
    return {
        "key": pack(entry.key),
        "document_id": entry.key.document_id,
        "seq": entry.key.seq,
        "collection": entry.collection,
        "authored_at": entry.authored_at,
        "vector": entry.vector,
    }


def _hits(found: Any) -> list[Hit]:
    columns = (found[name].to_pylist() for name in ("document_id", "seq", "_distance"))
    return [
        Hit(FragmentKey(number, seq), max(-1.0, min(1.0, 1.0 - distance)))
        for number, seq, distance in zip(*columns, strict=True)
    ]


def refuse_bad(vectors: Sequence[Vector], length: int) -> None:
    """
    Raise an error if one of *vectors* is invalid. Call this before the first is written.

    Args:
        length: Required length in bytes; 0 for the length of the first vector.

    Raises:
        BadVector: a vector is not finite, is all zeros, or has another length.
    """
    import numpy as np

    expected = length or len(vectors[0])
    for vector in vectors:
        if not vector or len(vector) % 4:
            raise BadVector(f"{len(vector)} bytes are no float32 numbers")
        if len(vector) != expected:
            raise BadVector(f"it has {len(vector) // 4} numbers, the others have {expected // 4}")
    numbers = _numbers(vectors).reshape(len(vectors), -1)  # shape (n, dim)
    if not np.isfinite(numbers).all():
        raise BadVector("one of its numbers is not finite")
    if not numbers.any(axis=1).all():
        raise BadVector("it is all zeros")


def vector_type(length: int) -> Any:
    """Return the type of a column for vectors of *length* bytes."""
    import pyarrow as pa

    return pa.list_(pa.float32(), length // 4)


def fixed_size(vectors: Sequence[Vector]) -> Any:
    """Return *vectors*, all of the same length, as a column."""
    import pyarrow as pa

    numbers = pa.array(_numbers(vectors), pa.float32())
    return pa.FixedSizeListArray.from_arrays(numbers, len(vectors[0]) // 4)


def _numbers(vectors: Sequence[Vector]) -> Any:
    import numpy as np

    return np.frombuffer(b"".join(vectors), "<f4")  # shape (n * dim,)
