"""Links of notes, with the notes and places at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.domain.documents.links import is_attachment, part_line
from clawmem.domain.documents.markdown import Markdown
from clawmem.ports.documents import DocumentStore, Link, StoredLink
from clawmem.ports.records import Document


class FoundLink(NamedTuple):
    """A link, the notes at both ends, and the line of the heading or block that it names; `problem` is a sentence."""

    link: Link
    source: Document
    target: Document | None
    target_line: int | None = None
    problem: str = ""


def found_links(documents: DocumentStore, links: Sequence[StoredLink]) -> list[FoundLink]:
    """Return *links* with their notes, in their order."""
    notes = documents.many({end for link in links for end in (link.document_id, link.target_id) if end})
    bodies = documents.bodies({link.target_id for link in links if link.target_id and link.link.part})
    return [_found(link, notes, bodies.get(link.target_id or 0, "")) for link in links]


def _found(stored: StoredLink, notes: dict[int, Document], body: str) -> FoundLink:
    link, source, target = stored.link, notes[stored.document_id], notes.get(stored.target_id or 0)
    if target is None:
        problem = "" if is_attachment(link.target) else "no note is called so"
        return FoundLink(link, source, None, None, problem)
    if not link.part:
        return FoundLink(link, source, target)
    line = part_line(link.part, Markdown(body, target.body_line))
    kind = "block" if link.part.startswith("^") else "heading"
    return FoundLink(link, source, target, line, "" if line else f"the note has no such {kind}")
