"""Collections as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.ports.records import Scope

if TYPE_CHECKING:
    from clawmem.app.settings import Settings
    from clawmem.ports.documents import DocumentStore


class Collection(TypedDict):
    """
    A collection with the number of its served documents; ``updated`` is the date of the latest document.

    A collection without a folder, whose ``path`` and ``pattern`` are null, is filled by clawmem itself or by a
    program. ``trust`` is user, shared or outside.
    """

    name: str
    documents: int
    pattern: str | None
    path: str | None
    updated: str | None
    trust: str


def collections_of(settings: Settings, documents: DocumentStore | None) -> list[Collection]:
    """Return every collection of the config file and of the vault, if there is one, by name."""
    served = documents.collections() if documents else {}
    found = sorted({*served, *settings.collections})
    return [_collection(name, served.get(name, 0), settings, documents) for name in found]


def _collection(name: str, served: int, settings: Settings, documents: DocumentStore | None) -> Collection:
    folder = settings.collections.get(name)
    latest = documents.latest(Scope(frozenset({name})), limit=1) if documents else []
    return {
        "name": name,
        "documents": served,
        "pattern": folder.pattern if folder else None,
        "path": str(folder.path) if folder else None,
        "updated": latest[0].authored_at if latest else None,
        "trust": folder.trust if folder else "user",
    }
