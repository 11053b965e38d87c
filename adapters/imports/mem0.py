"""mem0: its history in SQLite, and the payloads of a local vector store (Qdrant)."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clawmem.adapters.imports.reading import database, file_in, text
from clawmem.ports.imports import ForeignMemory, Unmatched

TOOL = "mem0"

_SCOPES = ("user_id", "agent_id", "run_id", "actor_id")
_POINTS = "**/collection/*/storage.sqlite"
_OF_ENTITIES = "_entities"  # the ending of the collection of names, which are no memories
_LAST = """
select memory_id, new_memory, created_at, updated_at, event, is_deleted, role from history
 where rowid in (select max(rowid) from history group by memory_id) order by rowid
"""


def read(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """
    Yield the present text of each memory, by its last event.

    *place* is the folder with ``history.db``, or that file. Payloads of Qdrant in a folder next to it add user,
    category and other metadata.
    """
    history = file_in(TOOL, place, "history.db")
    payloads = dict(_payloads(history.parent))
    columns = "memory_id new_memory event is_deleted created_at role updated_at".split()
    with database(TOOL, history) as store:
        store.require("history", *columns)
        for row in store.rows(_LAST):
            if row["is_deleted"] or row["event"] == "DELETE" or not text(row, "new_memory").strip():
                yield Unmatched("deleted memory")
                continue
            payload = payloads.get(text(row, "memory_id"), {})
            categories = payload.get("categories") or payload.get("category") or ()
            yield ForeignMemory(
                text(row, "memory_id"),
                text(row, "new_memory"),
                authored_at=text(payload, "created_at") or text(row, "created_at"),
                tags=tuple(map(str, [categories] if isinstance(categories, str) else categories)),
                project=next((str(payload[scope]) for scope in _SCOPES if payload.get(scope)), ""),
            )


def _payloads(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(folder.glob(_POINTS)):
        if file.parent.name.endswith(_OF_ENTITIES):
            continue
        with database(TOOL, file) as store:
            for row in store.rows("select point from points"):
                point = _point(row["point"])
                if isinstance(point.get("payload"), dict):
                    yield str(point.get("id")), point["payload"]


class _Point:
    """A point of Qdrant, without the behaviour of its class."""


class _PointReader(pickle.Unpickler):
    """Unpickler that makes points and plain values, and runs no code of the file."""

    def find_class(self, module: str, name: str) -> type[_Point]:
        if module.startswith("qdrant_client.") and name == "PointStruct":
            return _Point
        raise pickle.UnpicklingError(f"{module}.{name} is no point")


def _point(content: bytes) -> dict[str, Any]:
    """Return the fields of a point; none if it cannot be read."""
    try:
        return dict(vars(_PointReader(io.BytesIO(content)).load()))
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError, KeyError):
        return {}
