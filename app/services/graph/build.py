"""The relations that follow from the documents alone: which came after which, and which are about the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from clawmem.app.services.documents.walking import every_served
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.vault import Vault

ORIGIN = "build"  # what others have written about two documents is never overwritten
BATCH = 200  # documents a transaction: well under 50 ms of writing

SIMILAR = 0.7  # cosine from which on two documents are about the same
NEIGHBOURS = 10  # of a document, the nearest
# Fragments that are looked at to find them: a document is near with several of its own.
LOOKED_AT = 100

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """How many relations of a kind are there now, and how many of them are others than before."""

    relations: int
    changed: int


class BuildGraphs:
    """
    Make the relations between documents anew, as far as they follow from the documents.

    Running it again changes nothing unless documents changed; stopping it anywhere leaves a sound graph.
    Relations of another origin stay, and stand for themselves where both have one.
    """

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    def temporal(self, progress: Progress = lambda done, total: None) -> BuildReport:
        """Within each collection, from every document to the next by the time it was written; weight 1."""
        following = {
            older: [(newer, 1.0)] for ids in self._by_time().values() for older, newer in pairwise(ids)
        }
        return self._write(RelationKind.TEMPORAL, lambda one: following.get(one, ()), progress)

    def semantic(
        self, threshold: float = SIMILAR, progress: Progress = lambda done, total: None
    ) -> BuildReport:
        """
        From every document with vectors to its at most ten nearest, if their cosine reaches *threshold*.

        Nearness is that of its whole text to the nearest fragment of the other: a long document whose one
        section is about the same is about the same.

        Raises:
            InvalidInput: *threshold* is not in (0, 1].
        """
        if not 0.0 < threshold <= 1.0:
            raise InvalidInput(
                "OUT_OF_BOUNDS", f"A threshold of {threshold} makes no sense; choose above 0, at most 1."
            )
        return self._write(
            RelationKind.SEMANTIC, lambda one: nearest_documents(self._vault, one, threshold), progress
        )

    def _write(
        self,
        kind: RelationKind,
        targets: Callable[[int], Sequence[tuple[int, float]]],
        progress: Progress,
    ) -> BuildReport:
        written_at = iso_utc(self._clock.now_ms())
        total = sum(self._vault.documents.collections().values())
        changed = done = 0
        for batch in _batches(every_served(self._vault.documents)):
            sources = [document.id for document in batch]
            relations = [
                Relation(source, target, kind, weight, ORIGIN, written_at)
                for source in sources
                for target, weight in targets(source)
            ]
            changed += self._vault.relations.renew(kind, ORIGIN, sources, relations)
            done += len(batch)
            progress(done, max(done, total))
        return BuildReport(self._vault.relations.counts().get(kind, 0), changed)

    def _by_time(self) -> Mapping[str, list[int]]:
        """The documents of each collection, oldest first."""
        written: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for document in every_served(self._vault.documents):
            written[document.collection].append((document.authored_at, document.id))
        return {name: [number for _, number in sorted(ones)] for name, ones in written.items()}


def nearest_documents(
    vault: Vault, document_id: int, threshold: float, most: int = NEIGHBOURS
) -> list[tuple[int, float]]:
    """
    The documents with a fragment near to a document's whole text, and their cosines in (0, 1], the nearest first.

    None where the document has no vectors, or no other reaches *threshold*.
    """
    entries = vault.embeddings.of_document(document_id)
    if not entries:
        return []
    nearest: dict[int, float] = {}
    for hit in vault.vectors.search(entries[0].vector, LOOKED_AT):
        if hit.score >= threshold and hit.key.document_id != document_id:
            nearest.setdefault(hit.key.document_id, min(hit.score, 1.0))
    return list(islice(nearest.items(), most))


def _batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    while batch := list(islice(documents, BATCH)):
        yield batch
