"""A diary as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from clawmem.app.services.capture.diary import DiaryEntry
    from clawmem.ports.records import Document


class Written(TypedDict):
    """Where an entry stands."""

    action: str
    id: int
    file: str


class Entry(TypedDict):
    """An entry of the diary; ``agent`` is who wrote it."""

    id: int
    file: str
    title: str
    authored_at: str
    modified_at: str
    agent: str
    text: str


def written_of(document: Document) -> Written:
    """What was just written."""
    return {"action": "inserted", "id": document.id, "file": document.display_path}


def entry_of(entry: DiaryEntry) -> Entry:
    """An entry."""
    document = entry.document
    return {
        "id": document.id,
        "file": document.display_path,
        "title": document.title,
        "authored_at": document.authored_at,
        "modified_at": document.modified_at,
        "agent": document.domain or "",
        "text": entry.text,
    }
