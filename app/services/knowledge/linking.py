"""Relations between documents from vectors, from shared entities, and from a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from clawmem.app.services.graph.build import SIMILAR, nearest_documents
from clawmem.domain.knowledge.enrichment import LINK_KINDS, Link, entity_weight, least_rarity, rarity
from clawmem.ports.entities import Entity
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.vault import Vault

BY_VECTORS, BY_NAMES, BY_MODEL = "vectors", "names", "model"
DOCUMENTS_EACH = 20  # relations per document and entity


class RelationBuilder:
    """Recomputes the outgoing relations of one document, separately by origin. To be called inside `Vault.writing`."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def by_rules(self, document_id: int, at: str) -> int:
        """Renew the relations from stored vectors and mentions; return the number of changed relations."""
        near = nearest_documents(self._vault, document_id, SIMILAR)
        by_vectors = [
            Relation(document_id, target, RelationKind.SEMANTIC, cosine, BY_VECTORS, at)
            for target, cosine in near
        ]
        renew = self._vault.relations.renew
        return renew(RelationKind.SEMANTIC, BY_VECTORS, [document_id], by_vectors) + renew(
            RelationKind.ENTITY, BY_NAMES, [document_id], self._by_names(document_id, at)
        )

    def by_model(self, document_id: int, links: Sequence[tuple[int, Link]], at: str) -> int:
        """Renew the relations that a model states, which replace those from vectors; return the number of changes."""
        said = defaultdict[RelationKind, list[Relation]](list)
        for target, link in links:
            why = {"reasoning": link.reasoning} if link.reasoning else {}
            one = Relation(document_id, target, link.kind, link.confidence, BY_MODEL, at, why)
            said[link.kind].append(one)
        self._make_room(document_id, {one.target for one in said[RelationKind.SEMANTIC]})
        renew = self._vault.relations.renew
        return sum(renew(kind, BY_MODEL, [document_id], said[kind]) for kind in LINK_KINDS)

    def _make_room(self, document_id: int, targets: set[int]) -> None:
        there = self._vault.relations.outbound([document_id], [RelationKind.SEMANTIC], limit=1000)
        kept = [one for one in there if one.origin == BY_VECTORS and one.target not in targets]
        self._vault.relations.renew(RelationKind.SEMANTIC, BY_VECTORS, [document_id], kept)

    def _by_names(self, document_id: int, at: str) -> Iterator[Relation]:
        documents = sum(self._vault.documents.collections().values())
        shared = defaultdict[int, list[tuple[float, Entity]]](list)
        for entity in self._vault.entities.mentions(document_id):
            rare = rarity(documents, entity.mention_count)
            for other in self._others(document_id, entity) if rare >= least_rarity(documents) else ():
                shared[other].append((rare, entity))
        for other, both in sorted(shared.items()):
            weight = entity_weight(max(rare for rare, _ in both), len(both))
            why = {"entities": sorted(entity.name for _, entity in both)}
            yield Relation(document_id, other, RelationKind.ENTITY, weight, BY_NAMES, at, why)

    def _others(self, document_id: int, entity: Entity) -> Iterable[int]:
        mentioning = self._vault.entities.mentioning(entity.id, DOCUMENTS_EACH + 1)
        return [number for number in mentioning if number != document_id][:DOCUMENTS_EACH]
