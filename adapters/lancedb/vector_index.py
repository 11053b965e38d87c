from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from clawmem.adapters.lancedb.derived_index import (
    LanceIndex,
    Row,
    best,
    common_fields,
    condition,
    scope_columns,
)
from clawmem.adapters.lancedb.store import translated
from clawmem.ports.errors import BadVector, VaultError
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import EVERYTHING, Hit, Marker, Scope, Vector, VectorEntry

# Measured on 300 000 passages with 256 dimensions, CPU milliseconds and recall@10 of short queries: an
# inverted file with full vectors 39 and .997 for 40 of 73 partitions; with eight bits per number and exact
# rescoring of the best, 15 and .975.
EXACT_BELOW = 10_000  # vectors; fewer are compared one by one
PARTITION_SIZE = 4096  # LanceDB splits and joins partitions around this size
FEWEST_PROBES = 20  # up to this number all partitions are searched
PROBED_SHARE = 0.5  # of the partitions above that number
REFINED = 3  # candidates that are rescored with full vectors, as a multiple of the limit
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
            return "lancedb ivf" if self.count() >= self._exact_below else "lancedb exact scan"
        return "lancedb"

    def put(self, entries: Iterable[VectorEntry]) -> None:
        rows = [{**scope_columns(entry), "vector": entry.vector} for entry in entries]
        if rows:
            first = next((row for document in self._rows.values() for row in document.values()), None)
            length = len(first["vector"]) if first else self._length(self._latest())
            _refuse_bad([row["vector"] for row in rows], length)
        self._put(rows)

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        table = self._latest()
        length = self._length(table)
        if limit < 1 or not length or not any(vector):
            return []
        _refuse_bad([vector], length)
        with translated(self._store.uri):
            return self._nearest(table, vector, limit, condition(scope))

    def count(self) -> int:
        table = self._latest()
        with translated(self._store.uri):
            return _count(table)

    def _nearest(self, table: Any, vector: Vector, limit: int, where: str | None = None) -> list[Hit]:
        import numpy as np

        query = table.search(np.frombuffer(vector, "<f4"), vector_column_name="vector")
        query = query.distance_type("cosine").select(["document_id", "seq", "_distance"])
        if where:
            query = query.where(where)
        count = table.count_rows()
        if count < self._exact_below:
            query = query.bypass_vector_index()
        else:
            probes = max(self._fewest_probes, math.ceil(PROBED_SHARE * count / self._partition_size))
            query = query.minimum_nprobes(_EVERY_PARTITION if where else probes)
            # Further partitions are searched only for a limit above the number of vectors in these.
            query = query.maximum_nprobes(0).refine_factor(REFINED)
        return best(query, limit, lambda row: max(-1.0, min(1.0, 1.0 - row["_distance"])))

    def _length(self, table: Any) -> int:
        """Return the length of the stored vectors in bytes; 0 if there are none."""
        with translated(self._store.uri):
            schema = table.schema
            # besides vectors there is at most the row of the marker
            has_vectors = "vector" in schema.names and (table.count_rows() > 1 or _count(table) > 0)
            return 4 * int(schema.field("vector").type.list_size) if has_vectors else 0

    def _apply(self, table: Any, removed: set[int], rows: Sequence[Row], marker: Marker | None) -> None:
        if rows and not self._length(table):
            # The first vectors determine the width of the column, so an empty table is recreated with them.
            content = self._content(rows, marker or self.marker(), table.schema)
            self._overwrite(data=content, on_bad_vectors="null")
        else:
            super()._apply(table, removed, rows, marker)

    def _schema(self) -> Any:
        import pyarrow as pa

        return pa.schema(common_fields())

    def _to_arrow(self, rows: Sequence[Row]) -> Any:
        import numpy as np
        import pyarrow as pa

        width = len(rows[0]["vector"]) // 4
        numbers = np.frombuffer(b"".join(row["vector"] for row in rows), "<f4")  # shape (n * width,)
        column = pa.FixedSizeListArray.from_arrays(pa.array(numbers, pa.float32()), width)
        scope = [{name: value for name, value in row.items() if name != "vector"} for row in rows]
        return pa.Table.from_pylist(scope, schema=self._schema()).append_column("vector", column)

    def _create_indexes(self, table: Any, *, renew: bool = False) -> None:
        from lancedb.index import IvfSq

        present = {column for index in table.list_indices() for column in index.columns}
        if "vector" in set(table.schema.names) - present and table.count_rows() >= self._exact_below:
            config = IvfSq(distance_type="cosine", target_partition_size=self._partition_size)
            table.create_index("vector", config=config)

    def _probe(self, table: Any) -> None:
        import numpy as np

        if length := self._length(table):
            self._nearest(table, np.ones(length // 4, "<f4").tobytes(), 1)


def _count(table: Any) -> int:
    return int(table.count_rows("key >= 0"))


def _refuse_bad(vectors: Sequence[Vector], length: int) -> None:
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
    numbers = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)  # shape (n, dim)
    if not np.isfinite(numbers).all():
        raise BadVector("one of its numbers is not finite")
    if not numbers.any(axis=1).all():
        raise BadVector("it is all zeros")
