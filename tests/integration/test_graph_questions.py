"""Questions that follow the graph, and the commands of the graph."""

from __future__ import annotations

from graph_vault import GARDEN, KETTLE, NOTES, OUTAGE, POSTGRES, Remembering

from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.knowledge import Relation, RelationKind

WHY = "why did the sessions move to Postgres"


class TestIntentSearch:
    def test_a_cause_is_found_that_shares_no_word_with_the_question(self, memory: Remembering) -> None:
        """With the causal relation the outage comes right after what it explains, without it it is nowhere."""
        memory.take_in(NOTES, vectors=False)

        assert memory.found(WHY) == [POSTGRES]

        memory.relate(OUTAGE, POSTGRES)

        answer = memory.ask(WHY)
        assert [result.document.path for result in answer.results] == [POSTGRES, OUTAGE]
        assert (answer.intent, answer.confidence) == (Intent.WHY, 0.95)
        assert answer.results[1].legs.keys() == {"graph"}

    def test_a_link_is_followed(self, memory: Remembering) -> None:
        """A note that a match links to follows it; a list of links passes on less, and a note with many links to it no more."""
        linked = {path: f"{text}\nAlso [[2026-06-20-garden]].\n" for path, text in NOTES.items()}
        linked[KETTLE] += "- [[2026-06-03-outage]]\n- [[missing]]\n"
        memory.take_in(linked, vectors=False)

        assert memory.found(WHY) == [POSTGRES, GARDEN]
        assert memory.pairs(RelationKind.LINKS_TO) == {
            *((path, GARDEN) for path in (POSTGRES, OUTAGE, KETTLE)),
            (KETTLE, OUTAGE),
        }
        edges = memory.vault.relations.outbound([memory.id(KETTLE), memory.id(OUTAGE)], limit=10)
        assert {(memory.id(KETTLE), 0.707), (memory.id(OUTAGE), 1.0)} == {
            (one.source, round(one.weight, 3)) for one in edges
        }
        [said] = {one.metadata["context"] for one in edges if one.source == memory.id(OUTAGE)}
        assert said == "Also [[2026-06-20-garden]]."

    def test_only_reasons_and_relationships_are_followed(self, memory: Remembering) -> None:
        """Other questions, and any question without the graph, are answered by words and meaning alone."""
        memory.take_in(NOTES, vectors=False)
        memory.relate(OUTAGE, POSTGRES)

        assert memory.found(WHY, with_graph=False) == [POSTGRES]
        assert memory.found(WHY, intent=Intent.WHAT) == [POSTGRES]
        assert memory.found(WHY, intent=Intent.ENTITY) == [POSTGRES]  # not from effect to cause
        assert memory.found("which sessions move to Postgres") == [POSTGRES]

    def test_the_scope_holds_along_the_graph(self, memory: Remembering) -> None:
        """What lies in another collection, or was written later, is neither found nor passed through."""
        memory.take_in(NOTES, vectors=False)
        memory.take_in(
            {"2026-07-01-secret.md": "# Elsewhere\n\nNobody should read this.\n"}, "private", vectors=False
        )
        secret, postgres, kettle = (
            memory.id("2026-07-01-secret.md", "private"),
            memory.id(POSTGRES),
            memory.id(KETTLE),
        )
        relations = [
            Relation(secret, postgres, RelationKind.CAUSAL),
            Relation(kettle, secret, RelationKind.CAUSAL),
        ]
        memory.vault.relations.put(relations)

        assert set(memory.found(WHY)) == {POSTGRES, "2026-07-01-secret.md", KETTLE}
        assert memory.found(WHY, collections=("notes",)) == [POSTGRES]
        assert memory.found(WHY, until="2026-06-10") == [POSTGRES]


class TestUndecided:
    QUESTION = "sessions Postgres database"

    def test_a_model_decides_once(self, memory: Remembering) -> None:
        """What the words leave open a model is asked, the first time; its answer follows the graph."""
        memory.take_in(NOTES, vectors=False)
        memory.relate(OUTAGE, POSTGRES)
        said = ["Why."]
        generator = ScriptedGenerator(lambda prompt: said.pop())

        first = memory.ask(self.QUESTION, generator=generator)
        again = memory.ask(self.QUESTION, generator=generator)

        assert (first.intent, first.confidence) == (again.intent, again.confidence) == (Intent.WHY, 0.85)
        assert [result.document.path for result in again.results] == [POSTGRES, OUTAGE]
