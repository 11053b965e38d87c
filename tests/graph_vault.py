"""A vault with notes whose graph can be built and asked."""

from __future__ import annotations

from pathlib import Path

from notes_vault import NotesVault
from vault_stores import retrieval_stores
from wired import wired

from clawmem.adapters.memory.clock import START_MS
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.models import Models
from clawmem.app.services.retrieval.pipelines import intent_search
from clawmem.app.services.retrieval.request import read_request
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.knowledge import Relation, RelationKind
from clawmem.ports.models import Generator

NOTES = {
    "2026-06-09-postgres.md": "# Sessions move to Postgres\n\nWe moved all login sessions into one database.\n",
    "2026-06-03-outage.md": "# Outage\n\nThe cache host ran out of memory and everybody was thrown out.\n",
    "2026-06-20-garden.md": "# Garden\n\nTomatoes want sun, and water in the evening.\n",
    "2026-06-21-kettle.md": "# Kettle\n\nIt whistles in C sharp; descale it with vinegar.\n",
}

POSTGRES, OUTAGE, GARDEN, KETTLE = NOTES


class Remembering(NotesVault):
    """A vault with notes in collections, whose graph can be made and asked."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.build = wired(self.vault, self.clock).build_graphs()

    def relate(
        self, source: str, target: str, kind: RelationKind = RelationKind.CAUSAL, weight: float = 0.8
    ) -> None:
        said = {"reasoning": f"{source} before {target}"}
        relation = Relation(self.id(source), self.id(target), kind, weight, "hand", metadata=said)
        self.vault.relations.put([relation])

    def ask(
        self,
        question: str,
        *,
        intent: Intent | None = None,
        with_graph: bool = True,
        generator: Generator | None = None,
        collections: tuple[str, ...] = (),
        until: str = "",
    ) -> Answer:
        request = read_request(question, now_ms=START_MS, collections=collections, until=until)
        pipeline = intent_search(
            retrieval_stores(self.vault),
            self.embedder,
            intent=intent,
            with_graph=with_graph,
            models=Models(generator),
        )
        return pipeline(request)

    def found(self, question: str, **chosen: object) -> list[str]:
        answer = self.ask(question, **chosen)  # type: ignore[arg-type]
        return [result.document.path for result in answer.results]

    def pairs(self, kind: RelationKind) -> set[tuple[str, str]]:
        """The relations of one kind, by the paths of their ends."""
        documents = {document.id: document.path for document in self.vault.documents.latest()}
        related = self.vault.relations.outbound(documents, [kind], limit=1000)
        return {(documents[relation.source], documents[relation.target]) for relation in related}
