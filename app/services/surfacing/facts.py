"""Facts from the knowledge graph about the entities that a prompt names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from clawmem.domain.knowledge.entities import ids_of, only_one
from clawmem.domain.knowledge.triples import Statement
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.safety import safe
from clawmem.domain.surfacing.block import FACTS_FRAME
from clawmem.domain.surfacing.facts import MOST_ENTITIES, TRIPLES_EACH, Seeds, seeds_of, triple_line
from clawmem.domain.surfacing.packing import pack_lines
from clawmem.ports.documents import DocumentStore
from clawmem.ports.knowledge import EntityStore, TripleStore


@dataclass(frozen=True, slots=True)
class FactsAbout:
    """Lookup of the current facts about entities that a prompt names; related entities are not followed."""

    documents: DocumentStore
    entities: EntityStore
    triples: TripleStore

    def __call__(self, prompt: str, budget: int) -> list[str]:
        """Return the fact lines that fit into *budget* tokens together with the enclosing tags."""
        return pack_lines(self._lines(prompt), budget, FACTS_FRAME)

    def _lines(self, prompt: str) -> Iterator[str]:
        lines = set[str]()
        for entity_id in self._named(seeds_of(prompt)):
            triples = self.triples.recorded(entity_id, TRIPLES_EACH, ended=False)
            documents = self.documents.many({triple.document_id for triple in triples}) if triples else {}
            for triple in triples:
                document = documents.get(triple.document_id)
                line = triple_line(Statement(triple.subject.name, triple.predicate, triple.object_name))
                if line in lines or document is None or not is_verified(document.origin):
                    continue
                # A stated preference reads as an order without its subject.
                if not any(map(has_injection, (line, triple.object_name))):
                    lines.add(line)
                    yield safe(line)

    def _named(self, seeds: Seeds) -> list[str]:
        """Return the distinct ids of the entities that *seeds* name; names shared by two entities are ignored."""
        names = [*seeds.names, *seeds.grams]
        known = self.entities.known([*seeds.ids, *(text for name in names for text in ids_of(name))])
        by_id = (text for text in seeds.ids if text in known)
        by_name = (found.id for name in names if (found := only_one(name, known)))
        return list(islice(dict.fromkeys([*by_id, *by_name]), MOST_ENTITIES))
