"""Successors as records, and as the mark of superseded notes in output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.domain.retrieval.succession import successor_label

if TYPE_CHECKING:
    from clawmem.ports.records import Document


class Successor(TypedDict):
    """The document that supersedes another one, and when it was written."""

    file: str
    authored_at: str


def successor_of(document: Document | None) -> Successor | None:
    """Return a successor as a record; null if there is none."""
    return {"file": document.display_path, "authored_at": document.authored_at} if document else None


def marked(title: str, successor: Successor | None) -> str:
    """Return *title*, followed by ``[superseded by PATH (DATE)]`` if there is a successor."""
    if successor is None:
        return title
    return f"{title} [{successor_label(successor['file'], successor['authored_at'])}]"
