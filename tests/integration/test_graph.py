"""The graph of a real vault: made from its documents, followed by questions, shown by the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Invoke

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.memory.generator import ScriptedGenerator
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.graph.build import BATCH, ORIGIN, BuildGraphs, BuildReport
from clawmem.app.services.graph.causal_links import CausalLinks
from clawmem.app.services.indexing.embed import EmbedPending
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.publish import withdraw
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.app.services.retrieval.pipelines.intent_search import IntentAnswer, intent_search
from clawmem.app.services.retrieval.pipelines.with_models import Models
from clawmem.app.services.retrieval.request import read_request
from clawmem.contracts.samples import save
from clawmem.domain.graph.causal import Direction
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.embedder import Embedder
from clawmem.ports.entities import Entity
from clawmem.ports.errors import EmbeddingError, InvalidInput, ModelUnavailable
from clawmem.ports.generator import Generator
from clawmem.ports.records import InactiveReason, Vector
from clawmem.ports.relations import Relation, RelationKind

WHY = "why did the sessions move to Postgres"
NOTES = {
    "2026-06-09-postgres.md": "# Sessions move to Postgres\n\nWe moved all login sessions into one database.\n",
    "2026-06-03-outage.md": "# Outage\n\nThe cache host ran out of memory and everybody was thrown out.\n",
    "2026-06-20-garden.md": "# Garden\n\nTomatoes want sun, and water in the evening.\n",
    "2026-06-21-kettle.md": "# Kettle\n\nIt whistles in C sharp; descale it with vinegar.\n",
}
POSTGRES, OUTAGE, GARDEN, KETTLE = NOTES
TWINS = {"a.md": "Amber and resin from the north beach.", "b.md": "Amber and resin from the south beach."}


class Mute(HashingEmbedder):
    """An embedder whose service is down."""

    def embed_query(self, text: str) -> Vector:
        raise EmbeddingError("The embedding service does not answer.")


class Remembering:
    """A vault with notes in collections, whose graph can be made and asked."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.vault = SqliteVault(str(place / "vault.sqlite"))
        self.clock = ManualClock()
        self.embedder: Embedder = HashingEmbedder()
        self.build = BuildGraphs(self.vault, self.clock)

    def take_in(self, texts: dict[str, str], collection: str = "notes", *, vectors: bool = True) -> None:
        """Write files and index them."""
        root = self._place / collection
        root.mkdir(exist_ok=True)
        for path, text in texts.items():
            (root / path).write_text(text, "utf-8")
            os.utime(root / path, ns=(0, START_MS * 1_000_000))
        folder = Folder(collection, str(root))
        UpdateCollection(self.vault, DiskFiles(), self.clock, parse_yaml)(folder)
        if vectors:
            EmbedPending(self.vault, HashingEmbedder())()

    def id(self, path: str, collection: str = "notes") -> int:
        document = self.vault.documents.at(collection, path)
        assert document is not None, path
        return document.id

    def relate(
        self, source: str, target: str, kind: RelationKind = RelationKind.CAUSAL, weight: float = 0.8
    ) -> None:
        """A relation by hand."""
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
    ) -> IntentAnswer:
        request = read_request(question, now_ms=START_MS, collections=collections, until=until)
        pipeline = intent_search(
            self.vault, self.embedder, intent=intent, with_graph=with_graph, models=Models(generator)
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


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembering]:
    made = Remembering(tmp_path)
    yield made
    made.vault.close()


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
        withdraw(memory.vault, [memory.id(POSTGRES)], InactiveReason.ARCHIVED)

        assert memory.build.temporal().relations == 2
        assert (OUTAGE, GARDEN) in memory.pairs(RelationKind.TEMPORAL)

    def test_more_than_one_transaction(self, memory: Remembering) -> None:
        """A vault of more documents than one transaction takes has one unbroken chain, and progress is told."""
        with memory.vault.writing():
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

        links = CausalLinks(memory.vault)(middle)

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
        withdraw(memory.vault, [memory.id(POSTGRES)], InactiveReason.FORGOTTEN)
        first = memory.vault.documents.at("notes", OUTAGE)
        assert first is not None

        assert CausalLinks(memory.vault)(first) == []


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

    def test_with_vectors_the_cause_rises(self, memory: Remembering) -> None:
        """By meaning everything is found somewhere; the relation lifts the cause above what has none."""
        memory.take_in(NOTES)
        memory.relate(OUTAGE, POSTGRES)

        assert memory.found(WHY)[:2] == [POSTGRES, OUTAGE]

    def test_two_steps_away(self, memory: Remembering) -> None:
        """The cause of the cause is found as well."""
        memory.take_in(NOTES, vectors=False)
        memory.relate(OUTAGE, POSTGRES)
        memory.relate(KETTLE, OUTAGE)

        assert set(memory.found(WHY)) == {POSTGRES, OUTAGE, KETTLE}

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

    def test_common_things_of_an_entity_question(self, memory: Remembering) -> None:
        """Who is asked for brings what occurs together with the things of the documents that were found."""
        memory.take_in(NOTES, vectors=False)
        ann, redis = Entity("v:person:ann", "Ann", "person"), Entity("v:tool:redis", "Redis", "tool")
        memory.vault.entities.set_mentions(memory.id(POSTGRES), [ann, redis])
        memory.vault.entities.set_mentions(memory.id(GARDEN), [redis])

        assert memory.found("who moved the login sessions") == [POSTGRES, GARDEN]
        assert memory.found("who moved the login sessions", with_graph=False) == [POSTGRES]

    def test_the_time_that_a_question_names(self, memory: Remembering) -> None:
        """What was written then comes alone; where nothing was, the time is passed over."""
        texts = {f"2026-0{month}-10-tea.md": f"# Tea {month}\n\nTea is drunk.\n" for month in (1, 2, 3)}
        memory.take_in(texts, vectors=False)

        assert memory.found("when was tea drunk in february 2026") == ["2026-02-10-tea.md"]
        assert len(memory.found("when was tea drunk in february 2020")) == 3

    def test_relations_without_an_embedder(self, memory: Remembering) -> None:
        """A mute embedding service is named, once, and relations are followed all the same."""
        memory.take_in(NOTES)
        memory.relate(OUTAGE, POSTGRES)
        memory.embedder = Mute()

        answer = memory.ask(WHY)

        assert [result.document.path for result in answer.results] == [POSTGRES, OUTAGE]
        assert answer.trace.degraded.keys() == {"vector"}

    def test_likeness_does_not_outrank_a_match(self, memory: Remembering) -> None:
        """A graph of mere likenesses leaves the best match where it is."""
        texts = {f"{n}.md": f"# Note {n}\n\nLogin sessions and the database, part {n}.\n" for n in range(8)}
        memory.take_in({**texts, **NOTES})
        memory.build.semantic(0.3)

        assert memory.found(WHY)[0] == memory.found(WHY, with_graph=False)[0] == POSTGRES


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

    @pytest.mark.parametrize("said", ["", "I cannot say.", "whyever"])
    def test_an_answer_that_is_none(self, memory: Remembering, said: str) -> None:
        """Whatever a model writes that names no intent, the words' answer stands."""
        memory.take_in(NOTES, vectors=False)

        answer = memory.ask(self.QUESTION, generator=ScriptedGenerator(lambda prompt: said))

        assert (answer.intent, answer.confidence) == (Intent.WHAT, 0.6)

    def test_a_model_that_is_out_of_reach(self, memory: Remembering) -> None:
        """It is named as missing, and the words' answer stands."""
        memory.take_in(NOTES, vectors=False)

        def absent(prompt: str) -> str:
            raise ModelUnavailable("scripted", "it is not there")

        answer = memory.ask(self.QUESTION, generator=ScriptedGenerator(absent))

        assert answer.intent is Intent.WHAT
        assert answer.trace.degraded.keys() == {"intent"}

    def test_words_that_decide_ask_nobody(self, memory: Remembering) -> None:
        """A question that says what it wants costs no model, nor does one whose intent was given."""
        memory.take_in(NOTES, vectors=False)

        def never(prompt: str) -> str:
            raise AssertionError("asked for what is known")

        generator = ScriptedGenerator(never)

        assert memory.ask(WHY, generator=generator).intent is Intent.WHY
        forced = memory.ask(self.QUESTION, intent=Intent.WHEN, generator=generator)
        assert (forced.intent, forced.confidence) == (Intent.WHEN, 1.0)


class TestCommands:
    def relate(self, home: Path) -> None:
        vault = SqliteVault(str(home / ".cache" / "clawmem" / "index.sqlite"))
        ids = {document.path: document.id for document in vault.documents.latest()}
        redis, postgres = (
            ids[f"decisions/{name}.md"] for name in ("2026-02-11-redis", "2026-06-09-postgres")
        )
        said = {"reasoning": "two stores were one too many"}
        vault.relations.put([Relation(redis, postgres, RelationKind.CAUSAL, 0.75, metadata=said)])
        vault.close()

    def test_build(self, remembered: Invoke) -> None:
        """Both graphs are made unless one is chosen; a second time nothing changes."""
        both = json.loads(remembered("graph", "build", "--json").stdout)
        one = json.loads(remembered("graph", "build", "--temporal", "--json").stdout)
        shown = remembered("graph", "build").stdout

        assert both["temporal"] == {"relations": 2, "changed": 2}
        assert both["semantic"] is not None
        assert one == {"temporal": {"relations": 2, "changed": 0}, "semantic": None, "degraded": {}}
        assert "temporal: 2 relations, 0 changed." in shown

    def test_build_without_vectors_says_so(self, invoke: Invoke, notes: Path) -> None:
        """Nothing can be about the same before there are vectors; the way out is on stderr."""
        assert invoke("bootstrap", notes, "--skip-embed").exit_code == 0

        built = invoke("graph", "build", "--semantic")

        assert built.exit_code == 0
        assert "clawmem embed" in built.stderr

    def test_causes(self, remembered: Invoke, home: Path) -> None:
        """A chain is shown with what is said about each step, in both forms."""
        self.relate(home)

        found = json.loads(remembered("graph", "causes", "2026-06-09-postgres.md", "--json").stdout)
        shown = remembered("graph", "causes", "2026-02-11-redis.md", "--direction", "causes").stdout

        assert found["source"]["title"] == "Move sessions to Postgres"
        [link] = found["links"]
        assert (link["file"], link["depth"], link["direction"], link["weight"], link["reasoning"]) == (
            "notes/decisions/2026-02-11-redis.md",
            1,
            "caused_by",
            0.75,
            "two stores were one too many",
        )
        assert all(part in shown for part in ("led to", "75%", "postgres.md", "two stores"))

    def test_no_causes(self, remembered: Invoke) -> None:
        """A document without causes or effects is reported, and is no failure."""
        shown = remembered("graph", "causes", "haruka.md")

        assert (shown.exit_code, "No causes or effects of" in shown.stdout) == (0, True)

    @pytest.mark.parametrize(
        ("args", "code", "said"),
        [
            (("graph", "causes", "nobody.md"), 3, "No document"),
            (("graph", "causes", "haruka.md", "--direction", "up"), 2, "'causes', 'caused_by', 'both'"),
            (("graph", "build", "--threshold", "2"), 2, "at most 1"),
            (("intent-search", "x", "--intent", "HOW"), 2, "WHY, WHEN, ENTITY, WHAT"),
            (("intent-search", " "), 2, "empty"),
        ],
    )
    def test_refusals(self, remembered: Invoke, args: tuple[str, ...], code: int, said: str) -> None:
        """Bad input leaves with its code and the way out."""
        done = remembered(*args)

        assert (done.exit_code, said in done.stderr) == (code, True), done.output

    def test_intent_search(self, remembered: Invoke, home: Path) -> None:
        """The answer says what the question was taken to ask for; the older spelling is the same verb."""
        self.relate(home)

        found = json.loads(remembered("intent-search", "why", "Postgres", "--json").stdout)
        again = json.loads(remembered("intent_search", "why", "Postgres", "--json").stdout)
        forced = json.loads(
            remembered("intent-search", "Postgres", "--intent", "when", "--no-graph", "--json").stdout
        )

        assert (found["intent"], found["confidence"]) == ("WHY", 0.95)
        assert [one["path"] for one in found["results"]][:2] == [
            "decisions/2026-06-09-postgres.md",
            "decisions/2026-02-11-redis.md",
        ]
        assert again == found
        assert (forced["intent"], forced["confidence"]) == ("WHEN", 1.0)

    def test_intent_search_explained(self, remembered: Invoke, home: Path) -> None:
        """An explained answer shows the stages, the intent among them, and what the graph was worth."""
        self.relate(home)

        shown = remembered("intent-search", "why Postgres", "--explain").stdout

        assert "asks for: WHY (0.95)" in shown
        assert all(part in shown for part in ("classify", "WHY at 0.95", "graph"))
