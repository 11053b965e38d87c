"""Documents that were derived from others: conclusions, merged observations, the profile and handoffs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from clawmem.app.services.briefing.profile import SOURCE
from clawmem.app.services.maintenance.synthesis import FOLDER, ORIGIN
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.maintenance.patterns import CONSOLIDATED
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.relations import RelationKind
from clawmem.ports.vault import Vault

MOST_RELATIONS = 1000
_CONCLUSION = re.compile(rf"{FOLDER}/\d{{4}}-\d\d-\d\d-(?P<ids>(?:\d+-)+)[0-9a-f]+\.md")


def derived_documents(vault: Vault, document_ids: Iterable[int]) -> list[Document]:
    """
    Return every document that was derived from these, over any number of steps, by collection and path.

    The documents themselves and forgotten ones are left out; archived and superseded ones are not. The vault
    records a source in five places: the path of a conclusion and its relation of support, the journal of merged
    observations, the ``made-from:`` tags of the profile, and the quote of a capture that a handoff repeats.
    """
    asked = set(document_ids)
    stated = _stated(vault)
    found: dict[int, Document] = {}
    waiting = list(asked)
    while waiting:
        source = waiting.pop()
        drawn = {*stated.get(source, ()), *_concluded(vault, source), *_merged(vault, source)}
        drawn |= {*_handed_over(vault, source)}
        for document in vault.documents.many(drawn - asked - found.keys()).values():
            if document.inactive is not InactiveReason.FORGOTTEN:
                found[document.id] = document
                waiting.append(document.id)
    return sorted(found.values(), key=lambda one: (one.collection, one.path))


def _stated(vault: Vault) -> Mapping[int, set[int]]:
    """Return the documents that name their sources, by source: conclusions in their path, the profile in its tags."""
    by_source: dict[int, set[int]] = defaultdict(set)
    for document in vault.documents.sources(COLLECTION).values():
        for source in _sources(document):
            by_source[source].add(document.id)
    return by_source


def _sources(document: Document) -> Iterator[int]:
    if match := _CONCLUSION.fullmatch(document.path):
        yield from map(int, match["ids"].strip("-").split("-"))
    for tag in document.tags:
        number = tag.removeprefix(SOURCE)
        if tag != number and number.isdecimal():
            yield int(number)


def _concluded(vault: Vault, source: int) -> Iterator[int]:
    edges = vault.relations.outbound([source], {RelationKind.SUPPORTING}, limit=MOST_RELATIONS)
    yield from (edge.target for edge in edges if edge.origin == ORIGIN)


def _merged(vault: Vault, source: int) -> Iterator[int]:
    """Return the merged observations that replaced *source*; a note that contradicts it was not derived from it."""
    standing = [one for one in vault.journal.replacements(source) if source in one.replaced]
    merged = vault.documents.many(one.document_id for one in standing).values()
    yield from (one.id for one in merged if CONSOLIDATED in one.tags)


def _handed_over(vault: Vault, source: int) -> Iterator[int]:
    """Return the handoffs of the sessions in which *source* was captured, where they repeat its quote."""
    for sighting in vault.captures.sightings(source):
        session = vault.sessions.get(sighting.session_id)
        place = session.handoff_path.partition("/") if session and session.handoff_path else None
        handoff = vault.documents.at(place[0], place[2]) if place else None
        if handoff is not None and sighting.quote:
            body = vault.documents.body(handoff.id) or ""
            if _one_line(sighting.quote) in _one_line(body):
                yield handoff.id


def _one_line(text: str) -> str:
    return " ".join(text.split())
