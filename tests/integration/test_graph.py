"""The graph of a real vault: made from its documents, followed by questions, shown by the command line."""

from __future__ import annotations

import pytest
from graph_vault import GARDEN, KETTLE, NOTES, OUTAGE, POSTGRES, Remembering
from wired import publisher, wired

from clawmem.app.services.documents.listing import AT_ONCE as BATCH
from clawmem.app.services.knowledge.graph import ORIGIN, BuildReport
from clawmem.contracts.samples import save
from clawmem.domain.graph.causal import Direction
from clawmem.ports.errors import InvalidInput
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

    def test_collections_have_a_time_each(self, memory: Remembering) -> None:
        """What somebody else wrote in between does not stand between two notes."""
        memory.take_in({OUTAGE: NOTES[OUTAGE], GARDEN: NOTES[GARDEN]})
        memory.take_in({POSTGRES: NOTES[POSTGRES]}, "work")

        assert memory.build.temporal() == BuildReport(relations=1, changed=1)
        assert memory.pairs(RelationKind.TEMPORAL) == {(OUTAGE, GARDEN)}

    def test_again_changes_nothing(self, memory: Remembering) -> None:
        """Repeated it writes nothing, so that every relation keeps the time at which it was made."""
        memory.take_in(NOTES)
        memory.build.temporal()
        before = memory.vault.relations.outbound([memory.id(OUTAGE)], limit=9)
        memory.clock.advance(60_000)

        assert memory.build.temporal() == BuildReport(relations=3, changed=0)
        assert memory.vault.relations.outbound([memory.id(OUTAGE)], limit=9) == before

    def test_what_came_in_between_takes_its_place(self, memory: Remembering) -> None:
        """A note of an earlier day makes two relations of one; none is left over."""
        memory.take_in({OUTAGE: NOTES[OUTAGE], GARDEN: NOTES[GARDEN]})
        memory.build.temporal()
        memory.take_in({POSTGRES: NOTES[POSTGRES]})

        assert memory.build.temporal() == BuildReport(relations=2, changed=3)
        assert memory.pairs(RelationKind.TEMPORAL) == {(OUTAGE, POSTGRES), (POSTGRES, GARDEN)}

    def test_what_is_gone_leaves_no_gap(self, memory: Remembering) -> None:
        """Its neighbours follow each other."""
        memory.take_in(NOTES)
        memory.build.temporal()
        publisher(memory.vault).withdraw([memory.id(POSTGRES)], InactiveReason.ARCHIVED)

        assert memory.build.temporal().relations == 2
        assert (OUTAGE, GARDEN) in memory.pairs(RelationKind.TEMPORAL)

    def test_more_than_one_transaction(self, memory: Remembering) -> None:
        """A vault of more documents than one transaction takes has one unbroken chain, and progress is told."""
        with memory.vault.transactions.writing():
            for number in range(BATCH + 5):
                save(memory.vault, f"{number:04}.md", f"Text {number}.")
        told: list[tuple[int, int]] = []

        report = memory.build.temporal(lambda done, total: told.append((done, total)))

        assert report == BuildReport(relations=BATCH + 4, changed=BATCH + 4)
        assert told == [(BATCH, BATCH + 5), (BATCH + 5, BATCH + 5)]


class TestSemantic:
    def test_what_is_near_is_related(self, memory: Remembering) -> None:
        """Notes that share their words are related from either side, with their cosine as weight; others are not."""
        memory.take_in({**TWINS, KETTLE: NOTES[KETTLE]})

        assert memory.build.semantic() == BuildReport(relations=2, changed=2)
        assert memory.pairs(RelationKind.SEMANTIC) == {("a.md", "b.md"), ("b.md", "a.md")}
        [relation] = memory.vault.relations.outbound([memory.id("a.md")], limit=9)
        assert (0.7 <= relation.weight < 1.0, relation.origin) == (True, ORIGIN)

    def test_the_threshold_decides(self, memory: Remembering) -> None:
        """With a lower one more are related, with a higher one fewer; raising it takes relations back."""
        memory.take_in({**TWINS, "c.md": "Amber and pebbles."})

        assert memory.build.semantic(0.1).relations == 6
        assert memory.build.semantic(0.7) == BuildReport(relations=2, changed=4)
        assert memory.build.semantic(0.999) == BuildReport(relations=0, changed=2)

    @pytest.mark.parametrize("threshold", [0.0, -0.5, 1.5, float("nan")])
    def test_thresholds_that_are_none(self, memory: Remembering, threshold: float) -> None:
        """One outside (0, 1] is refused before anything changes."""
        memory.take_in(TWINS)

        with pytest.raises(InvalidInput):
            memory.build.semantic(threshold)

        assert memory.vault.relations.counts() == {}

    def test_ten_at_most(self, memory: Remembering) -> None:
        """Of a dozen near copies each is related to ten."""
        memory.take_in({f"{n}.md": f"Amber and resin from the north beach, walk {n}." for n in range(13)})

        assert memory.build.semantic(0.5).relations == 130

    def test_without_vectors_nothing_is_near(self, memory: Remembering) -> None:
        """What was never embedded has no neighbours."""
        memory.take_in(TWINS, vectors=False)

        assert memory.build.semantic() == BuildReport(relations=0, changed=0)

    def test_others_relations_stand(self, memory: Remembering) -> None:
        """What somebody else has said about two documents is neither replaced nor removed."""
        memory.take_in(TWINS)
        memory.relate("a.md", "b.md", RelationKind.SEMANTIC, 0.2)

        memory.build.semantic()
        memory.build.semantic(1.0)

        [relation] = memory.vault.relations.outbound([memory.id("a.md")], limit=9)
        assert (relation.weight, relation.origin) == (0.2, "hand")


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
