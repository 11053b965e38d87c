from __future__ import annotations

from collections.abc import Iterable, Iterator

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.succession import Claim, ClaimKind, Claims, Succession


class MemorySuccessions:
    """Reference ``SuccessionStore`` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def claim(self, document_id: int, claims: Claims) -> None:
        if document_id not in self._tables.documents:
            raise InvalidInput(
                "INVALID_INPUT", f"There is no document {document_id}, so it cannot supersede others."
            )
        self._tables.claims[document_id] = claims
        for claim in [one for one in self._tables.aims if one.document_id == document_id]:
            del self._tables.aims[claim]

    def claims(self) -> list[Claim]:
        return sorted(
            one for one in self._every() if self._tables.documents[one.document_id].inactive is None
        )

    def aim(self, claim: Claim) -> None:
        self._tables.aims[claim._replace(place=("", ""))] = claim.place

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        asked = set(document_ids)
        return {pair for pair in self._all() if pair.older in asked and pair.older != pair.newer}

    def _all(self) -> Iterator[Succession]:
        for claim in self.claims():
            for other in self._meant(*claim.place):
                pair = Succession(other.id, claim.document_id)
                yield pair if claim.kind is ClaimKind.SUPERSEDES else Succession(pair.newer, pair.older)

    def _every(self) -> Iterator[Claim]:
        for number, claims in self._tables.claims.items():
            said = {
                ClaimKind.SUPERSEDES: dict.fromkeys(claims.supersedes),
                ClaimKind.SUPERSEDED_BY: dict.fromkeys(claims.superseded_by),
            }
            for kind, addresses in said.items():
                for address in addresses:
                    claim = Claim(number, kind, address, ("", ""))
                    own = (self._tables.documents[number].collection, address)
                    yield claim._replace(place=self._tables.aims.get(claim, own))

    def _meant(self, collection: str, path: str) -> list[Document]:
        """
        Return the active documents at *path*, or with the body of the file that was renamed from *path*.
        """
        within = [d for d in self._tables.documents.values() if d.collection == collection]
        named = next((document for document in within if document.path == path), None)
        if named is None or named.inactive is None:
            return [named] if named else []
        if named.inactive is not InactiveReason.REMOVED:
            return []
        return [document for document in within if document.inactive is None and document.hash == named.hash]
