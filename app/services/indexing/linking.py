"""Resolution of links between notes, and the relations that follow from them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from clawmem.domain.documents.link_targets import link_target
from clawmem.ports.links import NamedNote, StoredLink
from clawmem.ports.records import Document
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.stores import DocumentsWithKnowledge, SearchableKnowledge

ORIGIN = "links"  # the writer of these relations
CHANGED_AT_ONCE = 32  # changed notes of one transaction


def aim_links(vault: SearchableKnowledge) -> None:
    """
    Aim the links that notes which came, moved, changed their names or went may affect. No file is read.

    A note that links to another is related to it. The weight of the relation is 1 / √n for a note with links to n
    notes: a link from a list of a thousand notes says little about each of them. How many notes link to a note does not
    count, so a hub is not preferred.
    """
    while changed := vault.links.changed(CHANGED_AT_ONCE):
        with vault.writing():
            outdated = vault.links.outdated(changed)
            notes = vault.documents.many({one.document_id for one in outdated})
            named = vault.links.named({one.link.key for one in outdated})
            aimed = [one._replace(target_id=_target(one, notes[one.document_id], named)) for one in outdated]
            vault.links.aim(new for new, old in zip(aimed, outdated, strict=True) if new != old)
            relate_links(vault, {one.document_id for one in outdated} | set(changed))
            vault.links.settle(changed)


def relate_links(vault: DocumentsWithKnowledge, sources: Collection[int]) -> None:
    """Replace the relations that follow from the links of these documents. To be called inside `Vault.writing`."""
    links: dict[int, dict[int, str]] = defaultdict(dict)
    for one in vault.links.outgoing(sources):
        if one.target_id is not None and one.target_id != one.document_id:
            links[one.document_id].setdefault(one.target_id, one.link.context)
    notes = vault.documents.many(links)
    relations = [
        _relation(notes[source], target, context, len(targets))
        for source, targets in links.items()
        for target, context in targets.items()
    ]
    vault.relations.renew(RelationKind.LINKS_TO, ORIGIN, sources, relations)


def _relation(source: Document, target: int, context: str, count: int) -> Relation:
    weight = 1 / math.sqrt(count)
    metadata = {"context": context}
    return Relation(source.id, target, RelationKind.LINKS_TO, weight, ORIGIN, source.modified_at, metadata)


def _target(one: StoredLink, note: Document, named: Mapping[str, Sequence[NamedNote]]) -> int | None:
    return link_target(one.link, note.collection, note.path, named.get(one.link.key, ()))
