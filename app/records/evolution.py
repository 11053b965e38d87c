"""The versions of the note about a document as a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.app.records.documents import Place, place_of
from clawmem.app.services.knowledge.evolution import versions
from clawmem.domain.security.quoting import lines_to_read, without_orders
from clawmem.ports.origin import Origin

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.knowledge.evolution import Version
    from clawmem.ports.records import Document

VERSIONS, MOST_VERSIONS = 10, 100
PREVIEW = 50  # characters of a context shown in a line


class NoteVersion(TypedDict):
    """
    A version of a note next to the one before, whose fields are empty for the first version.

    ``triggered_by`` is the document that caused the new version, null if it was the document's own text; ``origin``
    is ``rules``, or the model that wrote it.
    """

    version: int
    triggered_by: Place | None
    origin: str
    previous_keywords: list[str]
    new_keywords: list[str]
    previous_tags: list[str]
    new_tags: list[str]
    previous_context: str
    new_context: str
    reasoning: str
    created_at: str


class Evolution(TypedDict):
    """A document, and the versions of the note about it, newest first."""

    document: Place
    count: int
    timeline: list[NoteVersion]


def evolution_of(services: Services, document: Document, limit: int = VERSIONS) -> Evolution:
    """Return the versions of the note about a served document."""
    timeline = [
        _version(services, one, document.origin) for one in versions(services.vault, document.id, limit)
    ]
    return {"document": place_of(services, document), "count": len(timeline), "timeline": timeline}


def evolution_lines(found: Evolution) -> list[str]:
    """Return each version as a few lines; those about a text of others are quoted."""
    lines = [line for one in found["timeline"] for line in _version_lines(one)]
    return lines_to_read("\n".join(lines), found["document"]["origin"]) if lines else []


def _version_lines(one: NoteVersion) -> list[str]:
    """Return one version as a few lines; contexts are cut to 50 characters."""
    cause = f" by {one['triggered_by']['file']}" if one["triggered_by"] else ""
    why = f": {one['reasoning']}" if one["reasoning"] else ""
    before, after = ", ".join(one["previous_keywords"]), ", ".join(one["new_keywords"])
    contexts = (_preview(one["previous_context"]), _preview(one["new_context"]))
    lines = [f"v{one['version']} {one['created_at'][:10]} ({one['origin']}){cause}{why}"]
    lines += [f"  keywords: {before or 'none'} → {after or 'none'}"] if before != after else []
    lines += [f"  context: {contexts[0]} → {contexts[1]}"] if contexts[0] != contexts[1] else []
    return lines


def _preview(text: str) -> str:
    return f"{text[:PREVIEW]}…" if len(text) > PREVIEW else text or "none"


def _version(services: Services, one: Version, origin: Origin) -> NoteVersion:
    before, after = one.before, one.note
    return {
        "version": after.version,
        "triggered_by": place_of(services, one.cause) if one.cause else None,
        "origin": after.origin,
        "previous_keywords": list(before.keywords) if before else [],
        "new_keywords": list(after.keywords),
        "previous_tags": list(before.tags) if before else [],
        "new_tags": list(after.tags),
        "previous_context": without_orders(before.context, origin) if before else "",
        "new_context": without_orders(after.context, origin),
        "reasoning": without_orders(after.reason, origin),
        "created_at": after.written_at,
    }
