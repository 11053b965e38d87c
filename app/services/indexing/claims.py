"""Claims of notes about each other, aimed at the notes that they name."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from clawmem.app.services.documents.references import Reference, ReferenceResolver
from clawmem.app.services.documents.succession import successions_from
from clawmem.domain.documents.link_targets import link_target
from clawmem.domain.retrieval.succession import circles
from clawmem.ports.links import NamedNote, StoredLink
from clawmem.ports.records import Document
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.succession import Claim
from clawmem.ports.vault import Vault


class UnresolvedClaim(NamedTuple):
    """A claim whose address names no note, or several."""

    claim: Claim
    note: Document
    reference: Reference

    def __str__(self) -> str:
        """Return the sentence that reports the claim."""
        said = f"{self.note.display_path}: {self.claim.kind} names {self.claim.address!r}, but"
        names = ", ".join(one.display_path for one in self.reference.candidates)
        if self.reference.is_ambiguous:
            return f"{said} {len(self.reference.candidates)} notes are called so: {names}. Write the path of one."
        near = f" Did you mean {names}?" if names else ""
        return f"{said} no other note is called so.{near} Write its path, title or [[link]]."


class CircularClaims(NamedTuple):
    """Notes that supersede each other, by their paths."""

    notes: tuple[Document, ...]

    def __str__(self) -> str:
        """Return the sentence that reports the notes."""
        names = " and ".join(one.display_path for one in self.notes)
        return (
            f"{names} supersede each other, so none of them takes the place of another. "
            "Remove supersedes or superseded_by from one of them."
        )


def aim_claims(vault: Vault) -> list[UnresolvedClaim]:
    """
    Aim every claim at the note that its address names now; return those that name none or several.

    Notes come, move and change their titles, so the addresses are read again after each pass.
    """
    moved: list[Claim] = []
    unresolved: list[UnresolvedClaim] = []
    for claim, note, reference in _references(vault):
        place = reference.place or (note.collection, claim.address)
        if place != claim.place:
            moved.append(claim._replace(place=place))
        if reference.place is None:
            unresolved.append(UnresolvedClaim(claim, note, reference))
    if moved:
        with vault.transactions.writing():
            for claim in moved:
                vault.successions.aim(claim)
    return unresolved


def aimed_claims(vault: Vault, collection: str) -> list[str]:
    """Aim every claim, and describe those of *collection* that name no note, several, or each other."""
    unresolved = [one for one in aim_claims(vault) if one.note.collection == collection]
    circular = [one for one in circular_claims(vault) if one.notes[0].collection == collection]
    return [*map(str, unresolved), *map(str, circular)]


def unresolved_claims(vault: Vault) -> list[UnresolvedClaim]:
    """Return the claims that name no note, or several; changes nothing."""
    return [UnresolvedClaim(*one) for one in _references(vault) if one[2].place is None]


def circular_claims(vault: Vault) -> list[CircularClaims]:
    """Return the notes that supersede each other, each group once; neither of them goes before the other."""
    found = circles(
        successions_from(vault.successions, {claim.document_id for claim in vault.successions.claims()})
    )
    notes = vault.documents.many({number for circle in found for number in circle}) if found else {}
    groups = (sorted((notes[one] for one in circle), key=lambda one: one.display_path) for circle in found)
    return sorted((CircularClaims(tuple(group)) for group in groups), key=str)


def _references(vault: Vault) -> list[tuple[Claim, Document, Reference]]:
    claims = vault.successions.claims()
    notes = vault.documents.many({claim.document_id for claim in claims}) if claims else {}
    resolve = ReferenceResolver(vault)
    return [
        (claim, notes[claim.document_id], resolve(claim.address, notes[claim.document_id]))
        for claim in claims
    ]


ORIGIN = "links"  # the writer of these relations
CHANGED_AT_ONCE = 32  # changed notes of one transaction


def aim_links(vault: Vault) -> None:
    """
    Aim the links that notes which came, moved, changed their names or went may affect. No file is read.

    A note that links to another is related to it. The weight of the relation is 1 / √n for a note with links to n
    notes: a link from a list of a thousand notes says little about each of them. How many notes link to a note does not
    count, so a hub is not preferred.
    """
    while changed := vault.links.changed(CHANGED_AT_ONCE):
        with vault.transactions.writing():
            outdated = vault.links.outdated(changed)
            notes = vault.documents.many({one.document_id for one in outdated})
            named = vault.links.named({one.link.key for one in outdated})
            aimed = [one._replace(target_id=_target(one, notes[one.document_id], named)) for one in outdated]
            vault.links.aim(new for new, old in zip(aimed, outdated, strict=True) if new != old)
            relate_links(vault, {one.document_id for one in outdated} | set(changed))
            vault.links.settle(changed)


def relate_links(vault: Vault, sources: Collection[int]) -> None:
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
