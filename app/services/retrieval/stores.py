"""The stores that questions read."""

from __future__ import annotations

from dataclasses import dataclass

from clawmem.ports.documents import DocumentStore, PropertyStore, SuccessionStore
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, SketchStore, VectorSearch
from clawmem.ports.knowledge import EntityStore, RelationStore
from clawmem.ports.models import ModelAnswers
from clawmem.ports.storage import Transactions


@dataclass(frozen=True)
class RetrievalStores:
    """Stores and indexes that the pipelines of questions share; only ``answers``, a cache, is written."""

    transactions: Transactions
    documents: DocumentStore
    successions: SuccessionStore
    properties: PropertyStore
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    sketches: SketchStore
    entities: EntityStore
    relations: RelationStore
    answers: ModelAnswers
