"""Links between notes as people see them: with the notes at both ends, and what is wrong with a link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.domain.documents.links import is_attachment, part_line
from clawmem.ports.links import Link, StoredLink
from clawmem.ports.records import EVERYTHING, Document, Scope
from clawmem.ports.vault import Vault

NO_NOTE = "no note is called so"


class FoundLink(NamedTuple):
    """A link, the notes at both ends, and the line of the heading or block that it names; `problem` is a sentence."""

    link: Link
    source: Document
    target: Document | None
    target_line: int | None = None
    problem: str = ""


def links_of(vault: Vault, document: Document) -> list[FoundLink]:
    """Return the links of *document* in the order of its text."""
    return _found(vault, vault.links.outgoing([document.id]))


def links_to(vault: Vault, document: Document) -> list[FoundLink]:
    """Return the links of other notes to *document*, by note."""
    return _found(vault, vault.links.incoming([document.id]))


def broken_links(vault: Vault, scope: Scope = EVERYTHING) -> list[FoundLink]:
    """Return the links of the documents in *scope* that lead to no note, or to no place of their note."""
    return [one for one in _found(vault, vault.links.doubtful(scope)) if one.problem]


def _found(vault: Vault, links: Sequence[StoredLink]) -> list[FoundLink]:
    notes = vault.documents.many({end for one in links for end in (one.document_id, one.target_id) if end})
    bodies = vault.documents.bodies({one.target_id for one in links if one.target_id and one.link.part})
    return [_with_place(one, notes, bodies.get(one.target_id or 0, "")) for one in links]


def _with_place(one: StoredLink, notes: dict[int, Document], body: str) -> FoundLink:
    source, target = notes[one.document_id], notes.get(one.target_id or 0)
    if target is None:
        return FoundLink(one.link, source, None, None, "" if is_attachment(one.link.target) else NO_NOTE)
    if not one.link.part:
        return FoundLink(one.link, source, target)
    line = part_line(one.link.part, body, target.body_line)
    kind = "block" if one.link.part.startswith("^") else "heading"
    return FoundLink(one.link, source, target, line, "" if line else f"the note has no such {kind}")
