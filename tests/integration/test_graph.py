"""The graph of a real vault: made from its documents, followed by questions, shown by the command line."""

from __future__ import annotations

from graph_vault import GARDEN, KETTLE, NOTES, OUTAGE, POSTGRES, Remembering
from wired import publisher

from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.app.services.knowledge.graph import ORIGIN, BuildReport, causes_and_effects
from clawmem.domain.graph.traversal import Direction
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.knowledge import Relation, RelationKind
from clawmem.ports.records import InactiveReason

TWINS = {"a.md": "Amber and resin from the north beach.", "b.md": "Amber and resin from the south beach."}


class TestTemporal:
    def test_each_document_leads_to_the_next(self, memory: Remembering) -> None:
        """The order is that of writing, which the names of these files tell, not that of indexing."""
        memory.take_in(NOTES)

        assert memory.build.temporal() == BuildReport(relations=3, changed=3)
        assert memory.pairs(RelationKind.TEMPORAL) == {
            (OUTAGE, POSTGRES),
            (POSTGRES, GARDEN),
            (GARDEN, KETTLE),
        }


class TestSemantic:
    def test_what_is_near_is_related(self, memory: Remembering) -> None:
        """Notes that share their words are related from either side, with their cosine as weight; others are not."""
        memory.take_in({**TWINS, KETTLE: NOTES[KETTLE]})

        assert memory.build.semantic() == BuildReport(relations=2, changed=2)
        assert memory.pairs(RelationKind.SEMANTIC) == {("a.md", "b.md"), ("b.md", "a.md")}
        [relation] = memory.vault.relations.outbound([memory.id("a.md")], limit=9)
        assert (0.7 <= relation.weight < 1.0, relation.origin) == (True, ORIGIN)


class TestCausalLinks:
    def test_a_chain_with_what_is_said_about_it(self, memory: Remembering) -> None:
        """From the middle of a chain one goes back to the cause and on to the effect."""
        memory.take_in(NOTES)
        memory.relate(OUTAGE, POSTGRES)
        memory.relate(POSTGRES, GARDEN, weight=0.6)
        middle = memory.vault.documents.at("notes", POSTGRES)
        assert middle is not None

        links = causes_and_effects(memory.vault.documents, memory.vault.relations, middle)

        assert [(link.file, link.direction, link.weight) for link in links] == [
            (f"notes/{OUTAGE}", Direction.CAUSED_BY, 0.8),
            (f"notes/{GARDEN}", Direction.CAUSES, 0.6),
        ]
        assert links[0].reasoning == f"{OUTAGE} before {POSTGRES}"

    def test_what_is_not_served_breaks_the_chain(self, memory: Remembering) -> None:
        """Nothing behind a forgotten document is reached through it."""
        memory.take_in(NOTES)
        for source, target in ((OUTAGE, POSTGRES), (POSTGRES, GARDEN)):
            memory.relate(source, target)
        publisher(memory.vault).withdraw([memory.id(POSTGRES)], InactiveReason.FORGOTTEN)
        first = memory.vault.documents.at("notes", OUTAGE)
        assert first is not None

        assert causes_and_effects(memory.vault.documents, memory.vault.relations, first) == []


# -- Questions that follow the graph, and the commands of the graph.


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
