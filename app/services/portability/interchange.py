"""Exports in formats of other programs: Portable AI Memory, and the file of the reference memory server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clawmem.app.services.portability.bundle import Selection, selected
from clawmem.domain.knowledge.entity_card import card_at
from clawmem.domain.portability.pam import PLATFORM, content_digest, pam_relation, pam_type, store
from clawmem.ports.origin import Origin
from clawmem.ports.records import Document
from clawmem.ports.relations import Relation
from clawmem.ports.stores import DocumentsWithKnowledge

EACH = 1_000_000  # no limit: more relations of one kind than a document has


def pam_lines(vault: DocumentsWithKnowledge, selection: Selection) -> Iterator[str]:
    """Yield the lines of a Portable AI Memory store."""
    texts = {document: body for document, body in selected(vault, selection) if body.strip()}
    places = {document.id: document.display_path for document in texts}
    newer = {one.older: places[one.newer] for one in vault.successions.direct(places) if one.newer in places}
    memories = [_memory(document, body, newer.get(document.id)) for document, body in texts.items()]
    times = {document.id: document.authored_at for document in texts}
    relations = [_relation(one, places, times[one.source]) for one in _relations(vault, places)]
    yield from json.dumps(store(memories, relations), ensure_ascii=False, indent=1).split("\n")


def memory_lines(vault: DocumentsWithKnowledge, selection: Selection) -> Iterator[str]:
    """
    Yield the lines of a file of the reference memory server: entities, then relations.

    A page of an entity is that entity again; every other document is an entity named by its path.
    """
    names: dict[int, str] = {}
    related: list[tuple[str, str, str]] = []
    for document, body in selected(vault, selection):
        card = card_at(document.path, body)
        names[document.id] = name = card.name if card else document.display_path
        kind = card.type if card else document.content_type
        said = list(card.observations) if card else [_whole_text(document, body)]
        yield _line(type="entity", name=name, entityType=kind, observations=said)
        related += [(name, to, kind) for kind, to in (card.relations if card else ())]
    pairs = [(names[one.source], names[one.target], one.kind.value) for one in _relations(vault, names)]
    for source, to, kind in (*related, *pairs):
        yield _line(type="relation", **{"from": source, "to": to, "relationType": kind})


def _relations(vault: DocumentsWithKnowledge, known: Mapping[int, str]) -> Iterator[Relation]:
    numbers: Sequence[int] = sorted(known)
    for number in numbers:
        for one in vault.relations.outbound([number], limit=EACH):
            if one.target in known:
                yield one


def _memory(document: Document, body: str, superseded_by: str | None) -> dict[str, Any]:
    return {
        "id": document.display_path,
        "type": pam_type(document.content_type),
        "status": "superseded" if superseded_by else "active",
        "content": body,
        "content_hash": content_digest(body),
        "summary": document.title,
        "tags": list(document.tags),
        "confidence": {"initial": document.confidence, "current": document.confidence},
        "temporal": {
            "created_at": _second(document.authored_at),
            "updated_at": _second(max(document.authored_at, document.modified_at)),
            **({"superseded_by": superseded_by} if superseded_by else {}),
        },
        "provenance": {
            "platform": PLATFORM,
            "extraction_method": "manual" if document.origin is Origin.USER else "llm_inference",
        },
        "metadata": {
            **({"domain": document.domain} if document.domain else {}),
            "content_type": document.content_type,
            "origin": str(document.origin),
            "pinned": document.is_pinned,
        },
    }


def _relation(one: Relation, places: Mapping[int, str], since: str) -> dict[str, Any]:
    return {
        "id": f"{places[one.source]} {one.kind.value} {places[one.target]}",
        "from": places[one.source],
        "to": places[one.target],
        "type": pam_relation(one.kind),
        "confidence": one.weight,
        "created_at": _second(one.created_at or since),
    }


def _second(time: str) -> str:
    """Return a time of a record to the second, as others write it whose checksum has to be the same."""
    return f"{time[: len('2026-03-31T00:00:00')]}Z"


def _whole_text(document: Document, body: str) -> str:
    return body.strip() if document.title in body else f"{document.title}\n\n{body}".strip()


def _line(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)
