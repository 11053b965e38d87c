"""Merging of observations into one document, and its reversal."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.indexing.publish import publish
from clawmem.app.services.maintenance.grouping import Group
from clawmem.app.services.maintenance.observations import Observation
from clawmem.domain.maintenance import patterns
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.vault import Vault


class MergedObservations:
    """Writes the document of a group of observations. To be called inside `Vault.writing`."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._memories = Memories(vault, clock)

    def write(self, group: Group, path: str) -> int:
        """Write the document at *path* with the text and all occasions of *group*; return its id."""
        newest = group.members[0].document
        occasions = sorted(occasion for one in group.members for occasion in self._occasions(one))
        created = self._memories.write(
            path,
            patterns.consolidated_title(group.text),
            patterns.consolidated_body(group.text, occasions),
            newest.content_type,
            max(one.document.confidence for one in group.members),
            max(newest.authored_at, occasions[-1].day),
            tags=_tags(group),
            domain=newest.domain,
            sources=[one.document for one in group.members],
        )
        self._vault.captures.count_as(created, len(occasions))
        return created

    def _occasions(self, one: Observation) -> list[patterns.Occurrence]:
        body = self._vault.documents.body(one.id) or ""
        sightings = self._vault.captures.sightings(one.id)
        return patterns.occurrences_of(one.document, body, [seen.seen_at for seen in sightings[1:]])


def serve_again(vault: Vault, document_ids: Iterable[int]) -> list[Document]:
    """Serve superseded documents again and return them ordered by id. To be called inside `Vault.writing`."""
    found = vault.documents.many(document_ids).values()
    back = sorted((one for one in found if one.inactive is InactiveReason.SUPERSEDED), key=lambda one: one.id)
    for document in back:
        body = vault.documents.body(document.id) or ""
        publish(vault, document, body, vault.documents.fragments(document.id), declared=None)
    return back


def _tags(group: Group) -> tuple[str, ...]:
    shared: Iterable[str] = set.intersection(*(set(one.document.tags) for one in group.members))
    kept = sorted(tag for tag in shared if tag.startswith(("type:", "concept:")))
    return (patterns.CONSOLIDATED, *kept)
