"""From a question to an answer: the pipelines over a real vault, with an embedder that knows no language."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.models.static import StaticEmbedder
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.indexing.embed import EmbedPending
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.publish import withdraw
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.legs.ask_all import Retriever, RetrieverResult, RunRetrievers
from clawmem.app.services.retrieval.legs.at_hand import local_retrievers
from clawmem.app.services.retrieval.legs.lexical import lexical_retriever
from clawmem.app.services.retrieval.legs.vector import vector_retriever
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.pipelines.query import query
from clawmem.app.services.retrieval.pipelines.search import search
from clawmem.app.services.retrieval.pipelines.vsearch import vsearch
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.signals import signals_of
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval.composite import published
from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import ClawmemError, EmbeddingError, ModelMismatch
from clawmem.ports.records import InactiveReason, Vector

VERBS = ("search", "vsearch", "query")
HOUR_NS = 3_600_000_000_000
SHORT_S = 0.5  # a deadline that a leg which says nothing misses, and any other meets

KETTLE = """\
---
author: Ilse Brandt
tags: [kitchen, tea]
---
# Kettle

It whistles in C sharp.

Descale it with vinegar
every spring.
"""


class Notes:
    """A vault, folders that fill it, and questions to it."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.vault = SqliteVault(str(place / "vault.sqlite"))
        self.embedder: Embedder = HashingEmbedder()

    def take_in(self, texts: dict[str, str], collection: str = "notes", *, vectors: bool = True) -> Notes:
        """Write files two hours old, index them, and embed them."""
        root = self._place / collection
        for path, text in texts.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            os.utime(file, ns=(0, START_MS * 1_000_000 - 2 * HOUR_NS))
        self.update(collection)
        if vectors:
            EmbedPending(self.vault, self.embedder)()
        return self

    def update(self, collection: str = "notes") -> None:
        folder = Folder(collection, str(self._place / collection))
        UpdateCollection(self.vault, DiskFiles(), ManualClock(), parse_yaml)(folder)

    def remove(self, path: str) -> None:
        """Delete a file and notice it."""
        (self._place / "notes" / path).unlink()
        self.update()

    def id(self, path: str) -> int:
        document = self.vault.documents.at("notes", path)
        assert document is not None, path
        return document.id

    def pin(self, path: str) -> None:
        self.vault._db.write("update documents set pinned = 1 where id = ?", (self.id(path),))

    def pipeline(self, verb: str) -> Pipeline:
        if verb == "search":
            return search(self.vault)
        return {"vsearch": vsearch, "query": query}[verb](self.vault, self.embedder)

    def ask(
        self,
        question: str,
        verb: str = "search",
        *,
        limit: int = 10,
        min_score: float = 0.0,
        collections: Sequence[str] = (),
        unit: Unit = Unit.DOCUMENT,
        diverse: bool = True,
    ) -> Answer:
        request = read_request(
            question,
            now_ms=START_MS,
            show_all=True,
            limit=limit,
            min_score=min_score,
            collections=collections,
            unit=unit,
            diverse=diverse,
        )
        return self.pipeline(verb)(request)

    def found(self, question: str, verb: str = "search", limit: int = 10) -> list[str]:
        """Where the answers lie, best first."""
        return paths(self.ask(question, verb, limit=limit))


class Mute(HashingEmbedder):
    """An embedder whose service is down."""

    def embed_query(self, text: str) -> Vector:
        raise EmbeddingError("The embedding service does not answer.")


class Renamed(HashingEmbedder):
    """Another model."""

    fingerprint = "renamed-64"


def paths(answer: Answer) -> list[str]:
    return [result.document.path for result in answer.results]


def lines(answer: Answer) -> list[tuple[str, int, int]]:
    return [(result.document.path, result.start_line, result.end_line) for result in answer.results]


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    made = Notes(tmp_path)
    yield made
    made.vault.close()


@pytest.fixture
def hangs() -> Iterator[Retriever]:
    """A leg that says nothing until the test is over."""
    over = threading.Event()

    def leg(request: RetrievalRequest, work: Work) -> RetrieverResult:
        over.wait(60)
        return RetrieverResult({})

    yield leg
    over.set()


class TestWords:
    def test_a_document_is_found_with_its_place(self, notes: Notes) -> None:
        """The answer is the document, shown at the lines of the file that hold the word."""
        notes.take_in({"kettle.md": KETTLE, "cup.md": "A cup of nothing.\n"}, vectors=False)

        answer = notes.ask("what about vinegar")

        assert lines(answer) == [("kettle.md", 9, 10)]
        assert answer.results[0].heading == "Kettle"
        assert "Descale it with vinegar" in answer.results[0].snippet().text
        assert (answer.results[0].snippet().start_line, answer.results[0].snippet().line_count) == (9, 2)

    def test_lines_are_answers_of_their_own(self, notes: Notes) -> None:
        """By line a document may answer more than once, each time with the lines of one paragraph."""
        notes.take_in({"kettle.md": KETTLE.replace("C sharp", "vinegar")}, vectors=False)

        answer = notes.ask("what about vinegar", unit=Unit.LINE)

        assert sorted(lines(answer)) == [("kettle.md", 7, 7), ("kettle.md", 9, 10)]

    def test_all_the_words_come_before_some(self, notes: Notes) -> None:
        """For a bare name documents with every word come first, then the ones with any."""
        texts = {f"{n}.md": f"# Amber {n}\n\nAmber, amber, amber.\n" for n in range(5)}
        texts["both.md"] = "# Beach\n\nThe harbour has seals.\n\nOnce, amber.\n"
        notes.take_in(texts, vectors=False)

        answer = notes.ask("amber harbour")

        assert paths(answer)[0] == "both.md"
        assert len(answer.results) == 6
        assert [result.legs["precise"] for result in answer.results] == [1.0, *[0.0] * 5]

    def test_all_the_words_are_found_however_frequent_each_is(self, notes: Notes) -> None:
        """The one note with both words is first, also where hundreds fit one word better than it fits two."""
        texts = {f"{name}{n}.md": f"# {name}\n\n{name}.\n" for name in ("alder", "birch") for n in range(110)}
        filler = "".join(f"Paragraph {n} is of water and stones.\n\n" for n in range(300))
        texts["forest.md"] = f"# Forest\n\nAn alder.\n\n{filler}A birch.\n"
        notes.take_in(texts, vectors=False)

        answer = notes.ask("alder birch")

        assert paths(answer)[0] == "forest.md"
        assert len(answer.results) == 10

    def test_all_the_words_of_a_line(self, notes: Notes) -> None:
        """By line the one that holds both words is first."""
        text = "".join(f"- alder {n}\n- birch {n}\n" for n in range(8)) + "- birch and, far from it, alder\n"
        notes.take_in({"trees.md": text}, vectors=False)

        answer = notes.ask("alder birch", unit=Unit.LINE)

        assert lines(answer)[0] == ("trees.md", 17, 17)

    def test_chinese(self, notes: Notes) -> None:
        """A two-character word is found in the middle of a sentence without spaces."""
        notes.take_in({"zh.md": "# 周报\n\n下午的项目会议改到三点。\n", "en.md": "# Week\n\nNothing.\n"})

        assert notes.found("会议") == ["zh.md"]
        assert notes.found("会议", "query")[0] == "zh.md"
        assert lines(notes.ask("会议什么时候开", unit=Unit.LINE)) == [("zh.md", 3, 3)]

    @pytest.mark.parametrize("question", ["Brandt", "who is Ilse", "kitchen"])
    def test_front_matter(self, notes: Notes, question: str) -> None:
        """Values and tags find their document."""
        notes.take_in({"kettle.md": KETTLE, "cup.md": "A cup of nothing.\n"})

        assert notes.found(question) == ["kettle.md"]
        assert notes.found(question, "query")[0] == "kettle.md"

    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("question", ["???", "… — !", "🎉"])
    def test_no_word_no_answer(self, notes: Notes, verb: str, question: str) -> None:
        """A question without a word finds nothing, not even what is near to nothing."""
        notes.take_in({"kettle.md": KETTLE, "marks.md": "🎉 ??? … — !\n"})

        answer = notes.ask(question, verb)

        assert answer.results == ()
        assert answer.trace.degraded == {}


class TestScope:
    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("unit", list(Unit))
    def test_it_is_never_short(self, notes: Notes, verb: str, unit: Unit) -> None:
        """A small collection gives all its answers, however many better ones lie elsewhere."""
        notes.take_in({f"{n}.md": f"# Owl {n}\n\nOwl, owl, owl {n}.\n" for n in range(250)}, "large")
        notes.take_in({f"{n}.md": f"# Night {n}\n\nAmong other birds an owl {n} sat.\n" for n in range(12)})

        answer = notes.ask("where did the owl sit", verb, collections=["notes"], unit=unit)

        assert len(answer.results) == 10
        assert {result.document.collection for result in answer.results} == {"notes"}

    def test_no_such_collection(self, notes: Notes) -> None:
        """A scope without documents is empty, not everything."""
        notes.take_in({"kettle.md": KETTLE})

        assert notes.ask("vinegar", "query", collections=["elsewhere"]).results == ()


class TestGone:
    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("unit", list(Unit))
    def test_a_removed_file(self, notes: Notes, verb: str, unit: Unit) -> None:
        """What is gone from the disk answers nothing any more."""
        notes.take_in({"kettle.md": KETTLE, "pot.md": "# Pot\n\nVinegar does it no good.\n"})
        notes.remove("kettle.md")

        assert set(paths(notes.ask("what about vinegar", verb, unit=unit))) == {"pot.md"}

    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("unit", list(Unit))
    @pytest.mark.parametrize("reason", list(InactiveReason))
    def test_withdrawn(self, notes: Notes, verb: str, unit: Unit, reason: InactiveReason) -> None:
        """A document that was withdrawn, for whatever reason, is never answered."""
        notes.take_in({"kettle.md": KETTLE, "pot.md": "# Pot\n\nVinegar does it no good.\n"})
        with notes.vault.writing():
            withdraw(notes.vault, [notes.id("kettle.md")], reason)

        assert set(paths(notes.ask("what about vinegar", verb, unit=unit))) == {"pot.md"}

    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("unit", list(Unit))
    @pytest.mark.parametrize("question", ["what about vinegar", "vinegar"])
    def test_an_index_that_lags_behind(self, notes: Notes, verb: str, unit: Unit, question: str) -> None:
        """The record decides: what the indexes still hold of a forgotten document is not shown."""
        notes.take_in({"kettle.md": KETTLE, "pot.md": "# Pot\n\nVinegar does it no good.\n"})
        notes.vault.documents.deactivate([notes.id("kettle.md")], InactiveReason.FORGOTTEN)

        assert set(paths(notes.ask(question, verb, unit=unit))) == {"pot.md"}


class TestLegs:
    def test_a_broken_embedder(self, notes: Notes) -> None:
        """``query`` answers by words and says what is missing; ``vsearch`` has nothing else and raises."""
        notes.take_in({"kettle.md": KETTLE, "cup.md": "A cup of nothing.\n"})
        notes.embedder = Mute()

        answer = notes.ask("what about vinegar", "query")

        assert paths(answer) == ["kettle.md"]
        assert answer.trace.degraded == {"vector": "The embedding service does not answer."}
        assert "vector" not in answer.trace.hits
        with pytest.raises(EmbeddingError, match="does not answer"):
            notes.ask("what about vinegar", "vsearch")

    def test_lines_by_meaning_where_no_word_is_met(self, notes: Notes) -> None:
        """Asked for lines, ``query`` falls back to the passages that are near when the words find none."""
        notes.take_in({"kettle.md": KETTLE})

        def finds_nothing(request: RetrievalRequest, work: Work) -> RetrieverResult:
            return RetrieverResult({"line": []})

        legs = {"lexical": finds_nothing, "vector": vector_retriever(notes.vault, notes.embedder)}
        stages = {"search": RunRetrievers(legs), "fuse": fuse(notes.vault)}
        request = read_request("what about vinegar", now_ms=0, unit=Unit.LINE)
        work, _ = Pipeline(notes.vault, stages).rank(request)

        assert work.candidates
        assert all(candidate.span is not None for candidate in work.candidates)

    def test_an_error_without_words_is_named_by_its_kind(self, notes: Notes) -> None:
        """A leg is never degraded for an empty reason."""

        def breaks(request: RetrievalRequest, work: Work) -> RetrieverResult:
            raise ZeroDivisionError

        _, trace = self.asked(notes, {"lexical": lexical_retriever(notes.vault), "vector": breaks})

        assert trace.degraded == {"vector": "ZeroDivisionError"}

    def test_a_late_leg(self, notes: Notes, hangs: Retriever) -> None:
        """What is not there at the deadline is left out, and the rest answers."""
        notes.take_in({"kettle.md": KETTLE}, vectors=False)

        work, trace = self.asked(notes, {"lexical": lexical_retriever(notes.vault), "vector": hangs})

        assert trace.degraded == {"vector": "no answer within 0.5 s"}
        assert {hit.key.document_id for hit in work.legs["line"]} == {notes.id("kettle.md")}
        assert trace.hits == {name: len(hits) for name, hits in work.legs.items()}

    def test_a_leg_that_hangs_holds_up_nothing_but_itself(self, notes: Notes, hangs: Retriever) -> None:
        """Question after question the other leg answers."""
        notes.take_in({"kettle.md": KETTLE}, vectors=False)
        stage = RunRetrievers(
            {"lexical": lexical_retriever(notes.vault), "vector": hangs}, deadline_s=SHORT_S
        )
        request = read_request("vinegar", now_ms=START_MS)
        traces = [Trace() for _ in range(3)]

        works = [stage(request, Work(), trace) for trace in traces]

        assert [list(trace.degraded) for trace in traces] == [["vector"]] * 3
        assert all(work.legs["line"] for work in works)

    def test_a_leg_at_hand_needs_no_thread(self, notes: Notes) -> None:
        """It is asked by who asks; the other is not."""
        threads: dict[str, int] = {}

        def leg(name: str) -> Retriever:
            def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
                threads[name] = threading.get_ident()
                return RetrieverResult({name: []})

            return search

        stage = RunRetrievers({"near": leg("near"), "far": leg("far")}, at_hand=lambda: {"near", "unknown"})
        work = stage(read_request("vinegar", now_ms=START_MS), Work(), Trace())

        assert list(work.legs) == ["near", "far"]
        assert threads["near"] == threading.get_ident() != threads["far"]

    def test_a_broken_leg_at_hand(self, notes: Notes) -> None:
        """It is named, and the others answer; when all are broken the first error is raised."""
        notes.take_in({"kettle.md": KETTLE}, vectors=False)

        def breaks(request: RetrievalRequest, work: Work) -> RetrieverResult:
            raise EmbeddingError("broken")

        trace, request = Trace(), read_request("vinegar", now_ms=START_MS)
        legs = {"vector": breaks, "lexical": lexical_retriever(notes.vault)}
        work = RunRetrievers(legs, at_hand=lambda: {"vector", "lexical"})(request, Work(), trace)

        assert trace.degraded == {"vector": "broken"}
        assert work.legs["line"]
        with pytest.raises(EmbeddingError, match="broken"):
            RunRetrievers({"a": breaks, "b": breaks}, at_hand=lambda: {"a", "b"})(request, Work(), Trace())

    def test_what_is_at_hand(self, notes: Notes) -> None:
        """A table of vectors and the vault itself; not a model of which nothing is known."""
        assert local_retrievers(notes.vault, StaticEmbedder()) == {"temporal", "lexical", "vector"}
        assert local_retrievers(notes.vault, HashingEmbedder()) == {"temporal", "lexical"}

    def test_none_is_left(self, notes: Notes, hangs: Retriever) -> None:
        """When every leg is broken or late a broken one's error is raised, else that nothing answered."""

        def breaks(request: RetrievalRequest, work: Work) -> RetrieverResult:
            raise EmbeddingError("broken")

        with pytest.raises(EmbeddingError, match="broken"):
            self.asked(notes, {"lexical": breaks, "vector": breaks})
        with pytest.raises(EmbeddingError, match="broken"):
            self.asked(notes, {"lexical": hangs, "vector": breaks})
        with pytest.raises(ClawmemError, match=r"Nothing answered within 0\.5 s"):
            self.asked(notes, {"lexical": hangs, "vector": hangs})

    @pytest.mark.parametrize("unit", list(Unit))
    def test_another_model(self, notes: Notes, unit: Unit) -> None:
        """Two vector spaces are never compared: ``vsearch`` refuses, ``query`` answers by words."""
        notes.take_in({"kettle.md": KETTLE})
        notes.embedder = Renamed()

        with pytest.raises(ModelMismatch) as caught:
            notes.ask("vinegar", "vsearch", unit=unit)
        answer = notes.ask("vinegar", "query", unit=unit)

        assert (caught.value.stored, caught.value.asked) == (HashingEmbedder.fingerprint, "renamed-64")
        assert set(paths(answer)) == {"kettle.md"}
        assert list(answer.trace.degraded) == ["vector"]

    def test_no_vectors_yet(self, notes: Notes) -> None:
        """Before anything is embedded ``query`` answers like ``search``, and ``vsearch`` finds nothing."""
        notes.take_in({"kettle.md": KETTLE, "pot.md": "# Pot\n\nVinegar again.\n"}, vectors=False)

        assert notes.found("what about vinegar", "query") == notes.found("what about vinegar")
        assert notes.found("what about vinegar", "vsearch") == []

    def test_meaning(self, notes: Notes) -> None:
        """With a model that knows words, a note that shares none with the question is found by meaning."""
        notes.embedder = StaticEmbedder()
        notes.take_in(
            {
                "car.md": "# Repair\n\nThe mechanic replaced the engine of the automobile.\n",
                "soup.md": "# Supper\n\nLentils with cumin and lemon.\n",
            }
        )

        assert notes.found("cooking recipe ingredients") == []
        assert notes.found("cooking recipe ingredients", "vsearch")[0] == "soup.md"
        assert notes.found("cooking recipe ingredients", "query")[0] == "soup.md"

    def asked(self, notes: Notes, legs: dict[str, Retriever]) -> tuple[Work, Trace]:
        trace = Trace()
        stage = RunRetrievers(legs, deadline_s=SHORT_S)
        return stage(read_request("vinegar", now_ms=START_MS), Work(), trace), trace


class TestList:
    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("question", ["which heron stood in the reeds", "heron reeds"])
    @pytest.mark.parametrize("unit", list(Unit))
    def test_the_first_do_not_depend_on_the_limit(
        self, notes: Notes, verb: str, question: str, unit: Unit
    ) -> None:
        """The first five of ten or fifty are the five that a limit of five gives, scores included."""
        notes.take_in(herons())

        few, some, many = (
            [
                (r.document.path, r.start_line, r.score)
                for r in notes.ask(question, verb, limit=n, unit=unit).results
            ]
            for n in (5, 10, 50)
        )

        assert len(few) == 5
        assert few == some[:5] == many[:5]
        assert some == many[:10]

    def test_the_minimum_score_cuts(self, notes: Notes) -> None:
        """Exactly the answers that reach the score are left."""
        notes.take_in(herons())
        everything = notes.ask("which heron stood in the reeds", "query", limit=20, diverse=False).results
        wanted = everything[7].score

        answer = notes.ask(
            "which heron stood in the reeds", "query", limit=20, min_score=wanted, diverse=False
        )

        assert 0 < wanted < everything[0].score
        assert [r.score for r in answer.results] == [r.score for r in everything if r.score >= wanted]

    @pytest.mark.parametrize("verb", VERBS)
    def test_scores_fall_and_stay_in_bounds(self, notes: Notes, verb: str) -> None:
        """Shown scores lie between 0 and 1 and never rise down the list."""
        notes.take_in(herons())
        notes.pin("3.md")

        scores = [r.score for r in notes.ask("heron reeds", verb, limit=50, diverse=False).results]

        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)

    @pytest.mark.parametrize("diverse", [True, False])
    def test_near_copies(self, notes: Notes, diverse: bool) -> None:
        """A near-copy of a better answer goes last, unless that is not wanted; nothing is lost."""
        story = "The lamp in the hall flickers at night because its old switch is loose and warm.\n"
        notes.take_in(
            {
                "a.md": f"# Lamp\n\n{story}",
                "b.md": f"# Lamp\n\n{story}\nSeen twice.\n",
                "c.md": "# Garden\n\nBy the pond a lamp stands, and frogs, reeds and benches stand around it.\n",
            }
        )

        found = paths(notes.ask("why does the lamp flicker", "query", diverse=diverse))

        assert found == (["a.md", "c.md", "b.md"] if diverse else ["a.md", "b.md", "c.md"])

    @pytest.mark.parametrize("unit", list(Unit))
    @pytest.mark.parametrize(
        ("verb", "stages"),
        [
            (
                "search",
                [
                    "search",
                    "fuse",
                    "precise first",
                    "judge",
                    "score",
                    "successors first",
                    "newest first",
                    "cut",
                ],
            ),
            ("vsearch", ["search", "nearest", "score", "successors first", "newest first", "cut"]),
            (
                "query",
                [
                    "search",
                    "fuse",
                    "precise first",
                    "judge",
                    "score",
                    "successors first",
                    "diversify",
                    "newest first",
                    "named time first",
                    "cut",
                ],
            ),
        ],
    )
    def test_the_trace(self, notes: Notes, verb: str, stages: list[str], unit: Unit) -> None:
        """Every stage is there in its order, takes in what the one before gave out, and hits are counted."""
        notes.take_in(herons())

        answer = notes.ask("which heron stood in the reeds", verb, limit=3, unit=unit)

        trace = answer.trace
        assert [stage.name for stage in trace.stages] == stages
        assert [stage.came_in for stage in trace.stages] == [0, *(s.went_out for s in trace.stages[:-1])]
        assert trace.stages[0].went_out == 0
        assert trace.stages[1].went_out >= trace.stages[-1].came_in >= 3
        assert trace.stages[-1].went_out == len(answer.results) == 3
        words, meaning = {"line", "passage", "document"}, {"vector"}
        assert set(trace.hits) == {"search": words, "vsearch": meaning, "query": words | meaning}[verb]
        assert all(count > 0 for count in trace.hits.values())
        assert trace.degraded == {}

    def test_the_trace_of_a_name(self, notes: Notes) -> None:
        """A precise question has a leg of its own."""
        notes.take_in(herons())

        hits = notes.ask("heron stork", "search").trace.hits

        assert hits["precise"] == sum("stork" in text for text in herons().values())


class TestRanking:
    def test_published(self, notes: Notes) -> None:
        """``ranking=published`` scores by the published formula over the same signals, and orders by it."""
        notes.take_in(herons())
        notes.pin("8.md")
        request = read_request(
            "which heron stood in the reeds",
            now_ms=START_MS,
            limit=20,
            ranking=Ranking.PUBLISHED,
            show_all=True,
        )
        work, _ = search(notes.vault).rank(request)

        candidates = work.candidates

        assert len(candidates) == 20
        assert [c.score for c in candidates] == [
            published(signals_of(c.relevance, c.document, START_MS)) for c in candidates
        ]
        assert candidates == tuple(sorted(candidates, key=lambda c: (-c.score, c.best)))
        assert candidates[0].document_id == notes.id("8.md")
        assert all(c.terms == {} for c in candidates)

    def test_published_when_the_question_is_about_time(self, notes: Notes) -> None:
        """It takes its other weights then."""
        notes.take_in(herons())
        request = read_request(
            "what was the latest heron in the reeds", now_ms=START_MS, ranking=Ranking.PUBLISHED
        )
        work, trace = search(notes.vault).rank(request)

        expected = [
            published(signals_of(c.relevance, c.document, START_MS), recency_intent=True)
            for c in work.candidates
        ]

        assert [c.score for c in work.candidates] == expected
        assert trace.stages[4].notes == ["the question asks for what is recent"]

    def test_a_pin_lifts_among_equals(self, notes: Notes) -> None:
        """Of equal matches the pinned one is first, and says why."""
        notes.take_in({f"{n}.md": f"Ferry number{n} leaves at noon.\n" for n in range(4)})
        plain = notes.found("when does the ferry leave")
        notes.pin("2.md")

        answer = notes.ask("when does the ferry leave")

        assert plain == ["0.md", "1.md", "2.md", "3.md"]
        assert paths(answer) == ["2.md", "0.md", "1.md", "3.md"]
        assert [r.terms["pin"] > 0 for r in answer.results] == [True, False, False, False]
        assert sum(answer.results[0].terms.values()) > sum(answer.results[1].terms.values()) > 0

    def test_a_pin_lifts_over_nothing_better(self, notes: Notes) -> None:
        """A clearly better match stays ahead of a pinned one."""
        notes.take_in(
            {
                "pinned.md": "Of all boats the ferry is the slowest.\n",
                "better.md": "# Ferry\n\nThe ferry leaves at noon from the eastern quay.\n",
            }
        )
        notes.pin("pinned.md")

        for verb in VERBS:
            assert notes.found("when does the ferry leave the quay", verb) == ["better.md", "pinned.md"], verb

    @pytest.mark.parametrize(
        ("question", "first"),
        [("what is the latest plan for the orchard", "b.md"), ("what is the plan for the orchard", "a.md")],
    )
    def test_what_is_recent(self, notes: Notes, question: str, first: str) -> None:
        """Of two equal decisions, which do not age, the newer is first when the question asks for it."""
        plan = "content_type: decision\n---\nThe plan for the orchard.\n"
        notes.take_in(
            {
                "a.md": f"---\ndate: 2023-05-01\n{plan}",
                "b.md": f"---\ndate: 2023-11-10\n{plan}",
                "c.md": "Cherries in the orchard.\n",
            }
        )

        answer = notes.ask(question, diverse=False)

        assert paths(answer)[0] == first
        assert {"a.md", "b.md"} == set(paths(answer)[:2])

    @pytest.mark.parametrize(
        ("question", "first"),
        [
            ("when does Bob say the boat leaves", "**Bob:**"),
            ("when does Ann say the boat leaves", "**Ann:**"),
            ("when does my boat leave", "user:"),
        ],
    )
    def test_a_named_speaker(self, notes: Notes, question: str, first: str) -> None:
        """Of lines that say the same, that of the one who is named, or of the user, is first."""
        said = "the boat leaves at noon."
        speakers = ("assistant:", "**Eve:**", "**Ann:**", "**Bob:**", "**Joe:**", "user:")
        notes.take_in({"chat.md": "".join(f"{who} {said}\n\nHm.\n\n" for who in speakers)}, vectors=False)

        best = notes.ask(question, unit=Unit.LINE).results[0]

        assert best.start_line == speakers.index(first) * 4 + 1
        assert best.legs["speaker"] == 1.0


def herons() -> dict[str, str]:
    """Forty notes that answer a question about herons more or less well."""
    said: list[Callable[[int], str]] = [
        lambda n: f"A heron stood in the reeds near post {n} and waited.",
        lambda n: f"The reeds at post {n} were cut.",
        lambda n: f"No heron today at post {n}, only a stork; it stood in the meadow.",
        lambda n: f"Rain at post {n}, water up to the {'boots ' * (n % 7)} and mud. Later one heron.",
    ]
    return {f"{n}.md": f"# Day {n}\n\n{said[n % 4](n)}\n\nWind force {n % 9}.\n" for n in range(40)}
