"""The graph of a real vault: made from its documents, followed by questions, shown by the command line."""

from __future__ import annotations

from graph_vault import GARDEN, KETTLE, NOTES, OUTAGE, POSTGRES, Remembering
from wired import publisher, wired

from clawmem.app.services.knowledge.graph import ORIGIN, BuildReport
from clawmem.domain.graph.causal import Direction
from clawmem.ports.knowledge import RelationKind
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

        links = wired(memory.vault).causal_links()(middle)

        assert [(link.document.path, link.direction, link.weight) for link in links] == [
            (OUTAGE, Direction.CAUSED_BY, 0.8),
            (GARDEN, Direction.CAUSES, 0.6),
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

        assert wired(memory.vault).causal_links()(first) == []
