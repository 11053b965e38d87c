"""Claims of notes about each other, aimed at the notes that they name."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.documents.references import Reference, ReferenceResolver
from clawmem.app.services.documents.succession import successions_from
from clawmem.domain.documents.links import link_target
from clawmem.domain.retrieval.succession import circles
from clawmem.ports.documents import Claim, DocumentStore, LinkStore, SuccessionStore
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.records import Document
from clawmem.ports.storage import Transactions


class UnresolvedClaim(NamedTuple):
    """A claim whose address names no note, or several."""

    claim: Claim
    note: Document
    reference: Reference

    def __str__(self) -> str:
        """Return the sentence that reports the claim."""
        claim = f"{self.note.display_path}: {self.claim.kind} names {self.claim.address!r}, but"
        names = ", ".join(document.display_path for document in self.reference.candidates)
        if self.reference.is_ambiguous:
            return f"{claim} {len(self.reference.candidates)} notes are called so: {names}. Write the path of one."
        near = f" Did you mean {names}?" if names else ""
        return f"{claim} no other note is called so.{near} Write its path, title or [[link]]."


class CircularClaims(NamedTuple):
    """Notes that supersede each other, by their paths."""

    notes: tuple[Document, ...]

    def __str__(self) -> str:
        """Return the sentence that reports the notes."""
        names = " and ".join(document.display_path for document in self.notes)
        return (
            f"{names} supersede each other, so none of them takes the place of another. "
            "Remove supersedes or superseded_by from one of them."
        )


class NoteClaims:
    """Claims of notes to supersede others, and the notes that their addresses name now."""

    def __init__(self, documents: DocumentStore, successions: SuccessionStore, lexical: LexicalIndex) -> None:
        self._documents = documents
        self._successions = successions
        self._lexical = lexical

    def aim(self, transactions: Transactions) -> list[UnresolvedClaim]:
        """
        Aim every claim at the note that its address names now; return those that name none or several.

        Notes come, move and change their titles, so the addresses are read again after each pass.
        """
        references = self._references()
        moved = [
            claim._replace(place=place)
            for claim, note, reference in references
            for place in [reference.place or (note.collection, claim.address)]
            if place != claim.place
        ]
        if moved:
            with transactions.writing():
                for claim in moved:
                    self._successions.aim(claim)
        return _unresolved(references)

    def unresolved(self) -> list[UnresolvedClaim]:
        """Return the claims that name no note, or several; changes nothing."""
        return _unresolved(self._references())

    def circular(self) -> list[CircularClaims]:
        """Return the notes that supersede each other, each group once; neither of them goes before the other."""
        claiming = {claim.document_id for claim in self._successions.claims()}
        loops = circles(successions_from(self._successions, claiming))
        notes = self._documents.many({number for circle in loops for number in circle}) if loops else {}
        groups = (
            sorted((notes[number] for number in circle), key=lambda note: note.display_path)
            for circle in loops
        )
        return sorted((CircularClaims(tuple(group)) for group in groups), key=str)

    def _references(self) -> list[tuple[Claim, Document, Reference]]:
        claims = self._successions.claims()
        notes = self._documents.many({claim.document_id for claim in claims}) if claims else {}
        resolve = ReferenceResolver(self._documents, self._lexical)
        return [
            (claim, notes[claim.document_id], resolve(claim.address, notes[claim.document_id]))
            for claim in claims
        ]


def _unresolved(references: Iterable[tuple[Claim, Document, Reference]]) -> list[UnresolvedClaim]:
    return [UnresolvedClaim(*named) for named in references if named[2].place is None]


ORIGIN = "links"  # the writer of these relations
CHANGED_AT_ONCE = 32  # changed notes of one transaction


@dataclass(frozen=True, slots=True)
class LinkTargets:
    """Notes that the links of other notes lead to, and the relations that follow from links."""

    documents: DocumentStore
    links: LinkStore
    relations: RelationStore
    transactions: Transactions

    def aim(self) -> None:
        """
        Aim the links that notes which came, moved, changed their names or went may affect. No file is read.

        A note that links to another is related to it. The weight of the relation is 1 / √n for a note with links to n
        notes: a link from a list of a thousand notes says little about each of them. How many notes link to a note does
        not count, so a hub is not preferred.
        """
        while changed := self.links.changed(CHANGED_AT_ONCE):
            with self.transactions.writing():
                outdated = self.links.outdated(changed)
                notes = self.documents.many({link.document_id for link in outdated})
                named = self.links.named({link.link.key for link in outdated})
                aimed = [
                    link._replace(
                        target_id=link_target(
                            link.link, note.collection, note.path, named.get(link.link.key, ())
                        )
                    )
                    for link in outdated
                    for note in [notes[link.document_id]]
                ]
                self.links.aim(new for new, old in zip(aimed, outdated, strict=True) if new != old)
                self._relate({link.document_id for link in outdated} | set(changed))
                self.links.settle(changed)

    def _relate(self, sources: Collection[int]) -> None:
        """Replace the relations that follow from the links of these documents."""
        contexts: dict[int, dict[int, str]] = defaultdict(dict)
        for link in self.links.outgoing(sources):
            if link.target_id is not None and link.target_id != link.document_id:
                contexts[link.document_id].setdefault(link.target_id, link.link.context)
        notes = self.documents.many(contexts)
        relations = [
            Relation(
                source,
                target,
                RelationKind.LINKS_TO,
                1 / math.sqrt(len(targets)),
                ORIGIN,
                notes[source].modified_at,
                {"context": context},
            )
            for source, targets in contexts.items()
            for target, context in targets.items()
        ]
        self.relations.renew(RelationKind.LINKS_TO, ORIGIN, sources, relations)
