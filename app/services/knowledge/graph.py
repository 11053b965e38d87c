"""Relations derived from the documents alone (chronological order, similarity), and causal links of documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

from clawmem.app.services.documents.listing import docids, every_served, pages
from clawmem.app.services.documents.records import DocumentReference, place_from, provenance_of
from clawmem.app.services.progress import Progress
from clawmem.app.services.retrieval.graph import visible_edges
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.graph.traversal import DEPTH, Direction, causal_links
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import EmbeddingStore, VectorSearch
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.records import Document, Scope

ORIGIN = "build"  # relations of other origins are never overwritten

SIMILAR = 0.7  # least cosine of similar documents
NEIGHBOURS = 10  # most similar documents per document
# Hits searched to find them: several may be fragments of one document, or of the document itself.
LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class BuildReport:
    """Number of existing relations of a kind, and number of those that changed."""

    relations: int
    changed: int


@dataclass(frozen=True, slots=True)
class BuildGraphs:
    """
    Rebuilds the relations that follow from the documents.

    Repeating it changes nothing unless documents changed, and an interrupted run leaves a consistent graph. Relations of
    other origins are kept, and take precedence over those built here.
    """

    documents: DocumentStore
    relations: RelationStore
    embeddings: EmbeddingStore
    vectors: VectorSearch
    clock: Clock

    def temporal(self, progress: Progress = lambda done, total: None) -> BuildReport:
        """Relate every document to the next one of its collection by time of writing, with weight 1."""
        written: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for document in every_served(self.documents):
            written[document.collection].append((document.authored_at, document.id))
        following = {
            older: [(newer, 1.0)]
            for entries in written.values()
            for (_, older), (_, newer) in pairwise(sorted(entries))
        }
        return self._write(RelationKind.TEMPORAL, lambda number: following.get(number, ()), progress)

    def semantic(
        self, threshold: float = SIMILAR, progress: Progress = lambda done, total: None
    ) -> BuildReport:
        """
        Relate every document with vectors to its at most ten nearest ones whose cosine reaches *threshold*, in (0, 1].

        The vector of the whole document is compared with all fragments of others: a long document is similar if one of
        its sections is.
        """
        nearest = partial(nearest_documents, self.embeddings, self.vectors, threshold=threshold)
        return self._write(RelationKind.SEMANTIC, nearest, progress)

    def _write(
        self, kind: RelationKind, targets: Callable[[int], Sequence[tuple[int, float]]], progress: Progress
    ) -> BuildReport:
        at = iso_utc(self.clock.now_ms())
        total = sum(self.documents.collections().values())
        changed = done = 0
        for batch in pages(self.documents):
            sources = [document.id for document in batch]
            relations = [
                Relation(source, target, kind, weight, ORIGIN, at)
                for source in sources
                for target, weight in targets(source)
            ]
            changed += self.relations.renew(kind, ORIGIN, sources, relations)
            done += len(batch)
            progress(done, max(done, total))
        return BuildReport(self.relations.counts().get(kind, 0), changed)


def nearest_documents(
    embeddings: EmbeddingStore,
    vectors: VectorSearch,
    document_id: int,
    threshold: float,
    most: int = NEIGHBOURS,
) -> list[tuple[int, float]]:
    """
    Return the documents with a fragment similar to a whole document, with cosines in (0, 1], nearest first.

    The list is empty if the document has no vectors, or no other document reaches *threshold*.
    """
    entries = embeddings.of_document(document_id)
    if not entries:
        return []
    nearest: dict[int, float] = {}
    for hit in vectors.search(entries[0].vector, LOOKED_AT):
        if hit.score >= threshold and hit.key.document_id != document_id:
            nearest.setdefault(hit.key.document_id, min(hit.score, 1.0))
    return list(islice(nearest.items(), most))


class CausalLink(DocumentReference):
    """
    A document of a chain: its distance from the start, the direction, and the reasoning for the step to it.

    ``origin`` is the less trusted origin of the two documents of the step.
    """

    depth: int
    direction: Direction
    weight: float
    reasoning: str


def causes_and_effects(
    documents: DocumentStore,
    relations: RelationStore,
    document: Document,
    direction: Direction = Direction.BOTH,
    depth: int = DEPTH,
    as_of: str | None = None,
) -> list[CausalLink]:
    """Return the causal links of *document* to other served documents, nearest first; written before *as_of*, if given."""
    links = causal_links(
        document.id, visible_edges(relations, Scope(authored_until=as_of), 100), direction, depth
    )
    linked = documents.many(link.document_id for link in links)
    names = docids(documents, [*linked.values()])
    return [
        CausalLink(
            **place_from(linked[link.document_id], names[link.document_id])
            | provenance_of(link.relation.trust),
            depth=link.depth,
            direction=link.direction,
            weight=link.relation.weight,
            reasoning=without_orders(str(link.relation.metadata.get("reasoning", "")), link.relation.trust),
        )
        for link in links
    ]
