"""Operations on a LanceDB table: common columns, the merge of a commit, and the marker row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clawmem.adapters.lancedb.translation import MARKER
from clawmem.ports.records import Marker

# the marker has no vector, which LanceDB rejects by default; other vectors are validated before
NO_VECTOR = "null"


def common_fields() -> list[Any]:
    """Return the columns of both tables: key and scope of a fragment, and the marker columns of the marker row."""
    import pyarrow as pa

    return [
        pa.field("key", pa.int64()),
        pa.field("document_id", pa.int64()),
        pa.field("seq", pa.int64()),
        pa.field("collection", pa.string()),
        pa.field("authored_at", pa.string()),
        pa.field("marker_vault", pa.string()),
        pa.field("marker_seq", pa.int64()),
        pa.field("marker_epoch", pa.string()),
    ]


def merge(table: Any, removed: set[int], parts: Sequence[Any]) -> None:
    """
    Write one version of *table* without the removed documents, and with the rows of *parts* by key.

    Args:
        parts: Arrow tables with the columns of *table*.
    """
    import pyarrow as pa

    doomed = f"document_id in ({', '.join(map(str, sorted(removed)))})" if removed else None
    if not parts:
        table.delete(doomed)
    elif not table.count_rows():
        table.add(pa.concat_tables(parts), on_bad_vectors=NO_VECTOR)
    else:
        step = table.merge_insert("key").when_matched_update_all().when_not_matched_insert_all()
        if doomed:
            step = step.when_not_matched_by_source_delete(doomed)
        step.execute(pa.concat_tables(parts), on_bad_vectors=NO_VECTOR)


def marker_row(marker: Marker, schema: Any) -> Any:
    """Return the marker as an Arrow table of one row with *schema*; all other columns are null."""
    import pyarrow as pa

    said = {
        "key": MARKER,
        "marker_vault": marker.vault,
        "marker_seq": marker.seq,
        "marker_epoch": marker.epoch,
    }
    return pa.table([pa.array([said.get(field.name)], field.type) for field in schema], schema=schema)


def marker_in(table: Any) -> Marker | None:
    """Return the marker of the current version of *table*."""
    columns = ["marker_vault", "marker_seq", "marker_epoch"]
    rows = table.search().where(f"key = {MARKER}").select(columns).limit(1).to_arrow().to_pylist()
    return Marker(*(rows[0][name] for name in columns)) if rows else None


def faults_of_keys(table: Any) -> list[str]:
    """Return a fault if a key occurs more than once; LanceDB has no unique constraint."""
    import pyarrow.compute as pc

    keys = table.search().select(["key"]).limit(table.count_rows() + 1).to_arrow()["key"]
    surplus = len(keys) - pc.count_distinct(keys).as_py()
    return [f"{surplus} entries of the LanceDB table are there more than once."] if surplus else []
