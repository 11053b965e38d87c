import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from lancedb.index import IvfSq

from clawmem.adapters.lancedb.derived_index import COMMON, LanceIndex, Row, best, condition, scope_columns
from clawmem.ports.errors import BadVector
from clawmem.ports.records import EVERYTHING, Hit, Marker, Scope, Vector, VectorEntry

PROBED_SHARE = 0.5  # of the partitions above `LanceVectorIndex.fewest_probes`
REFINED = 3  # candidates that are rescored with full vectors, as a multiple of the limit


class LanceVectorIndex(LanceIndex):
    """
    ``VectorIndex`` in one table: an exhaustive scan of few vectors, an inverted file (IVF) for more.

    Scores are exact in both cases. The inverted file stores eight bits per number, and the best candidates
    are rescored exactly. A search with a scope probes every partition, one without a scope the nearest half.
    """

    table_name = "vectors"
    schema = pa.schema(COMMON)
    method = "lancedb"

    # Measured on 300 000 passages with 256 dimensions, CPU milliseconds and recall@10 of short queries: an
    # inverted file with full vectors 39 and .997 for 40 of 73 partitions; with eight bits per number and exact
    # rescoring of the best, 15 and .975.
    exact_below = 10_000  # vectors; fewer are compared one by one
    partition_size = 4096  # LanceDB splits and joins partitions around this size
    fewest_probes = 20  # up to this number all partitions are searched

    def put(self, entries: Iterable[VectorEntry]) -> None:
        self._put({**scope_columns(entry), "vector": entry.vector} for entry in entries)

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        with self._latest() as table:
            length = _length(table)
            if limit < 1 or not length or not any(vector):
                return []
            if len(vector) != length:
                raise BadVector(f"it has {len(vector)} bytes, the stored ones have {length}")
            return self._nearest(table, vector, limit, condition(scope))

    def count(self) -> int:
        with self._latest() as table:
            return int(table.count_rows("key >= 0"))

    def _nearest(self, table: Any, vector: Vector, limit: int, where: str | None = None) -> list[Hit]:
        query = table.search(np.frombuffer(vector, "<f4"), vector_column_name="vector")
        query = query.distance_type("cosine").select(["document_id", "seq", "_distance"])
        if where:
            query = query.where(where)
        count = table.count_rows()
        if count < self.exact_below:
            query = query.bypass_vector_index()
        else:
            probes = max(self.fewest_probes, math.ceil(PROBED_SHARE * count / self.partition_size))
            query = query.minimum_nprobes(1_000_000 if where else probes)
            # Further partitions are searched only for a limit above the number of vectors in these.
            query = query.maximum_nprobes(0).refine_factor(REFINED)
        return best(query, limit, lambda row: max(-1.0, min(1.0, 1.0 - row["_distance"])))

    def _apply(self, table: Any, removed: set[int], rows: Sequence[Row], marker: Marker | None) -> None:
        if rows and not _length(table):
            # The first vectors determine the width of the column, so an empty table is recreated with them.
            content = self._content(rows, marker or self.marker(), table.schema)
            self._overwrite(data=content, on_bad_vectors="null")
        else:
            super()._apply(table, removed, rows, marker)

    def _to_arrow(self, rows: Sequence[Row]) -> Any:
        width = len(rows[0]["vector"]) // 4
        numbers = np.frombuffer(b"".join(row["vector"] for row in rows), "<f4")  # shape (n * width,)
        column = pa.FixedSizeListArray.from_arrays(pa.array(numbers, pa.float32()), width)
        scope = [{name: value for name, value in row.items() if name != "vector"} for row in rows]
        return super()._to_arrow(scope).append_column("vector", column)

    def _create_indexes(self, table: Any, *, renew: bool = False) -> None:
        present = {column for index in table.list_indices() for column in index.columns}
        if "vector" in set(table.schema.names) - present and table.count_rows() >= self.exact_below:
            config = IvfSq(distance_type="cosine", target_partition_size=self.partition_size)
            table.create_index("vector", config=config)

    def _probe(self, table: Any) -> None:
        if length := _length(table):
            self._nearest(table, np.ones(length // 4, "<f4").tobytes(), 1)


def _length(table: Any) -> int:
    """Return the length of the stored vectors in bytes; 0 if there are none."""
    # besides vectors there is at most the row of the marker
    if "vector" not in table.schema.names or not (table.count_rows() > 1 or table.count_rows("key >= 0")):
        return 0
    return 4 * int(table.schema.field("vector").type.list_size)
