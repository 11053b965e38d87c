"""Claims of notes about each other, aimed at the notes that they name."""

from __future__ import annotations

import math
import posixpath
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.domain.documents.address import read_address
from clawmem.domain.documents.identity import display_path, normalise_docid, parse_virtual_path
from clawmem.domain.documents.links import link_key, link_targets
from clawmem.domain.security.origin import verified_if_any
from clawmem.ports.documents import Claim, DocumentStore, Link, LinkKind, LinkStore, SuccessionStore
from clawmem.ports.errors import InvalidInput
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.records import Document
from clawmem.ports.storage import Transactions


class UnresolvedClaim(NamedTuple):
    """A claim whose address names no note, or several."""

    claim: Claim
    note: Document
    candidates: Sequence[Document]

    def __str__(self) -> str:
        """Return the sentence that reports the claim."""
        claim = f"{self.note.display_path}: {self.claim.kind} names {self.claim.address!r}, but"
        if not self.candidates:
            return f"{claim} no other note is called so. Write its path, title or [[link]]."
        names = ", ".join(sorted(document.display_path for document in self.candidates))
        return f"{claim} {len(self.candidates)} notes are called so: {names}. Write the path of one."


@dataclass(frozen=True, slots=True)
class NoteClaims:
    """Claims of notes to supersede others, and the notes that their addresses name now."""

    documents: DocumentStore
    successions: SuccessionStore
    links: LinkStore

    def aim(self, transactions: Transactions) -> list[UnresolvedClaim]:
        """
        Aim every claim at the note that its address names now; return those that name none or several.

        Notes come, move and change their titles, so the addresses are read again after each pass.
        """
        recorded = self.successions.claims()
        documents = self.documents.many({claim.document_id for claim in recorded}) if recorded else {}
        claims = [
            UnresolvedClaim(claim, note, self._named(claim.address, note))
            for claim in recorded
            for note in [documents[claim.document_id]]
        ]
        aimed = [
            claim._replace(
                place=(notes[0].collection, notes[0].path)
                if len(notes) == 1
                else (note.collection, claim.address)
            )
            for claim, note, notes in claims
        ]
        moved = [new for new, (claim, *_) in zip(aimed, claims, strict=True) if new.place != claim.place]
        if moved:
            with transactions.writing():
                for claim in moved:
                    self.successions.aim(claim)
        return [claim for claim in claims if len(claim.candidates) != 1]

    def _named(self, text: str, note: Document) -> list[Document]:
        """
        Return the other notes that *text* names in the front matter of *note*, as a docid, a path, or as a link does.

        The path of a note that is not served names it too. Notes of the user and of assistants go before those of others.
        """
        try:
            address = read_address(text, posixpath.dirname(note.path))[0]
        except InvalidInput:
            return []
        if address.docid:
            return [
                document
                for document in self.documents.by_hash(normalise_docid(address.docid))
                if document.id != note.id
            ]
        place = parse_virtual_path(address.name)
        # YAML removes the brackets of an unquoted [[link|shown]].
        target = display_path(*place) if place else address.name.partition("|")[0].strip()
        link = Link(LinkKind.WIKILINK, target, link_key(target), 1)
        names = self.links.named([link.key]).get(link.key, ())
        documents = self.documents.many({name.document_id for name in names} - {note.id})
        eligible = {document.id for document in verified_if_any([*documents.values()])}
        named = [name for name in names if name.document_id in eligible]
        if numbers := link_targets(link, note.collection, note.path, named):
            return [documents[number] for number in numbers]
        gone = self.documents.at(*(place or (note.collection, target.strip("/"))))
        return [gone] if gone and gone.id != note.id else []


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
                        target_id=next(
                            iter(
                                link_targets(
                                    link.link, note.collection, note.path, named.get(link.link.key, ())
                                )
                            ),
                            None,
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
