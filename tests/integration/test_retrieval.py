"""From a question to an answer: the pipelines over a real vault, and the list of an answer."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from types import FrameType

import pytest
from notes_vault import VERBS, MuteEmbedder, NotesVault, RenamedEmbedder, paths
from vault_stores import retrieval_stores
from wired import publisher

from clawmem.adapters.memory.clock import START_MS
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.models.local import StaticEmbedder
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.compare import fuse
from clawmem.app.services.retrieval.pipelines import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.retrieve import (
    Retriever,
    RetrieverResult,
    lexical_retriever,
    run_retrievers,
    vector_retriever,
)
from clawmem.app.services.retrieval.work import LoadedTexts, Trace, Work
from clawmem.domain.retrieval import question as analysis
from clawmem.ports.errors import EmbeddingError, ModelMismatch
from clawmem.ports.records import InactiveReason

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


def lines(answer: Answer) -> list[tuple[str, int, int]]:
    return [(result.document.path, result.start_line, result.end_line) for result in answer.results]


@pytest.fixture
def notes(notes_vault: NotesVault) -> NotesVault:
    return notes_vault


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
    def test_a_document_is_found_with_its_place(self, notes: NotesVault) -> None:
        """The answer is the document, shown at the lines of the file that hold the word."""
        notes.take_in({"kettle.md": KETTLE, "cup.md": "A cup of nothing.\n"}, vectors=False)

        answer = notes.ask("what about vinegar")

        assert lines(answer) == [("kettle.md", 9, 10)]
        assert answer.results[0].heading == "Kettle"
        assert "Descale it with vinegar" in answer.results[0].snippet().text
        assert (answer.results[0].snippet().start_line, answer.results[0].snippet().line_count) == (9, 2)

    def test_lines_are_answers_of_their_own(self, notes: NotesVault) -> None:
        """By line a document may answer more than once, each time with the lines of one paragraph."""
        notes.take_in({"kettle.md": KETTLE.replace("C sharp", "vinegar")}, vectors=False)

        answer = notes.ask("what about vinegar", unit=Unit.LINE)

        assert sorted(lines(answer)) == [("kettle.md", 7, 7), ("kettle.md", 9, 10)]

    def test_all_the_words_come_before_some(self, notes: NotesVault) -> None:
        """For a bare name documents with every word come first, then the ones with any."""
        texts = {f"{n}.md": f"# Amber {n}\n\nAmber, amber, amber.\n" for n in range(5)}
        texts["both.md"] = "# Beach\n\nThe harbour has seals.\n\nOnce, amber.\n"
        notes.take_in(texts, vectors=False)

        answer = notes.ask("amber harbour")

        assert paths(answer)[0] == "both.md"
        assert len(answer.results) == 6
        assert [result.legs.get("precise") for result in answer.results] == [1.0, *[None] * 5]

    @pytest.mark.parametrize(
        "question", ["auth_session", "where is auth_session read", 'who reads "auth session"']
    )
    def test_adjacent_words_come_first(self, notes: NotesVault, question: str) -> None:
        """One note has the identifier; the others have both of its words, more often."""
        texts = {f"{n}.md": f"# Auth {n}\n\nSession of auth, read a session, auth read.\n" for n in range(9)}
        texts["one.md"] = "# Notes\n\nThis module and many others of this kind read auth_session once.\n"
        notes.take_in(texts, vectors=False)

        assert paths(notes.ask(question))[0] == "one.md"

    @pytest.mark.parametrize(
        ("question", "first"),
        [("C++ templates", "cpp.md"), ("C# templates", "cs.md"), (".NET templates", "net.md")],
    )
    def test_signs_of_names(self, notes: NotesVault, question: str, first: str) -> None:
        """A name with signs is another word than the one without."""
        texts = {f"{n}.md": f"# C {n}\n\nC templates of net, C net, net templates.\n" for n in range(5)}
        for name, sign in (("cpp", "C++"), ("cs", "C#"), ("net", ".NET")):
            texts[f"{name}.md"] = f"# Language\n\nOur {sign} code has its templates in a folder of its own.\n"
        notes.take_in(texts, vectors=False)

        assert paths(notes.ask(question))[0] == first

    def test_excluded_words(self, notes: NotesVault) -> None:
        """A minus before the last word excludes the notes that have it."""
        notes.take_in({"pie.md": "# Pie\n\nApple pie.\n", "mac.md": "# Mac\n\nApple laptop.\n"})

        assert paths(notes.ask("apple -laptop")) == ["pie.md"]
        assert len(notes.ask("apple").results) == 2

    def test_all_the_words_are_found_however_frequent_each_is(self, notes: NotesVault) -> None:
        """The one note with both words is first, also where hundreds fit one word better than it fits two."""
        texts = {f"{name}{n}.md": f"# {name}\n\n{name}.\n" for name in ("alder", "birch") for n in range(110)}
        filler = "".join(f"Paragraph {n} is of water and stones.\n\n" for n in range(300))
        texts["forest.md"] = f"# Forest\n\nAn alder.\n\n{filler}A birch.\n"
        notes.take_in(texts, vectors=False)

        answer = notes.ask("alder birch")

        assert paths(answer)[0] == "forest.md"
        assert len(answer.results) == 10

    def test_a_log_does_not_crowd_out_the_lines_of_other_notes(self, notes: NotesVault) -> None:
        """Hundreds of its lines fit better than the one that answers, which still counts as a line."""
        log = "# Probes\n\n" + "".join(f"- calibrated probe, offset {n}\n" for n in range(300))
        how = "# How it is done\n\nA probe is calibrated for two days over a bath of salt, in the cabinet.\n"
        notes.take_in({"log.md": log, "how.md": how}, vectors=False)

        answer = notes.ask("how is a probe calibrated")

        assert "line" in {one.document.path: one.legs for one in answer.results}["how.md"]

    def test_a_rare_word_of_a_long_note(self, notes: NotesVault) -> None:
        """A note of 256 kB that alone has it comes first, as its best passage speaks for it."""
        line = "- The lamp of the hut burned, and the wind came over the hill while {} nets dried near the stove\n"
        log = "# Log\n\n" + "".join(line.format(number) for number in range(2600))
        huts = {f"hut{n}.md": f"# Hut {n}\n\nThe lamp of hut {n} was mended by Otto.\n" for n in range(20)}
        notes.take_in({"log.md": f"{log}- The quokka lamp was mended by Otto\n", **huts})

        assert notes.found("quokka", "query")[0] == "log.md"
        assert notes.found("who mended the quokka lamp", "query")[0] == "log.md"

    @pytest.mark.parametrize("question", ["Brandt", "who is Ilse", "kitchen"])
    def test_front_matter(self, notes: NotesVault, question: str) -> None:
        """Values and tags find their document."""
        notes.take_in({"kettle.md": KETTLE, "cup.md": "A cup of nothing.\n"})

        assert notes.found(question) == ["kettle.md"]
        assert notes.found(question, "query")[0] == "kettle.md"


class TestScope:
    def test_it_is_never_short(self, notes: NotesVault) -> None:
        """A small collection gives all its answers, however many better ones lie elsewhere."""
        notes.take_in({f"{n}.md": f"# Owl {n}\n\nOwl, owl, owl {n}.\n" for n in range(250)}, "large")
        notes.take_in({f"{n}.md": f"# Night {n}\n\nAmong other birds an owl {n} sat.\n" for n in range(12)})

        for verb, unit in product(VERBS, Unit):
            answer = notes.ask("where did the owl sit", verb, collections=["notes"], unit=unit)
            assert [result.document.collection for result in answer.results] == ["notes"] * 10, (verb, unit)


class TestGone:
    @pytest.mark.parametrize("reason", list(InactiveReason))
    def test_withdrawn(self, notes: NotesVault, reason: InactiveReason) -> None:
        """A document that was withdrawn, for whatever reason, is never answered."""
        notes.take_in({"kettle.md": KETTLE, "pot.md": "# Pot\n\nVinegar does it no good.\n"})
        with notes.vault.transactions.writing():
            publisher(notes.vault).withdraw([notes.id("kettle.md")], reason)

        assert set(paths(notes.ask("what about vinegar"))) == {"pot.md"}

    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("unit", list(Unit))
    def test_an_index_that_lags_behind(self, notes: NotesVault, verb: str, unit: Unit) -> None:
        """The record decides: what the indexes still hold of a forgotten document is not shown."""
        notes.take_in({"kettle.md": KETTLE, "pot.md": "# Pot\n\nVinegar does it no good.\n"})
        notes.vault.documents.deactivate([notes.id("kettle.md")], InactiveReason.FORGOTTEN)

        assert set(paths(notes.ask("vinegar", verb, unit=unit))) == {"pot.md"}


class TestLegs:
    def test_a_broken_embedder(self, notes: NotesVault) -> None:
        """``query`` answers by words and says what is missing; ``vsearch`` has nothing else and raises."""
        notes.take_in({"kettle.md": KETTLE, "cup.md": "A cup of nothing.\n"})
        notes.embedder = MuteEmbedder()

        answer = notes.ask("what about vinegar", "query")

        assert paths(answer) == ["kettle.md"]
        assert answer.trace.degraded == {"vector": "The embedding service does not answer."}
        assert "vector" not in answer.trace.hits
        with pytest.raises(EmbeddingError, match="does not answer"):
            notes.ask("what about vinegar", "vsearch")

    def test_lines_by_meaning_where_no_word_is_met(self, notes: NotesVault) -> None:
        """Asked for lines, ``query`` falls back to the passages that are near when the words find none."""
        notes.take_in({"kettle.md": KETTLE})

        def finds_nothing(request: RetrievalRequest, work: Work) -> RetrieverResult:
            return RetrieverResult({"line": []})

        legs = {
            "lexical": finds_nothing,
            "vector": vector_retriever(notes.vault.vectors, notes.vault.embeddings, notes.embedder),
        }
        stages = {"search": run_retrievers(legs), "fuse": fuse}
        request = read_request("what about vinegar", now_ms=0, unit=Unit.LINE)
        work, _ = Pipeline(retrieval_stores(notes.vault), stages).rank(request)

        assert work.candidates
        assert all(candidate.span is not None for candidate in work.candidates)

    def test_a_leg_that_hangs_holds_up_nothing_but_itself(self, notes: NotesVault, hangs: Retriever) -> None:
        """Question after question the other leg answers."""
        notes.take_in({"kettle.md": KETTLE}, vectors=False)
        stage = run_retrievers(
            {"lexical": lexical_retriever(notes.vault.lexical), "vector": hangs}, deadline_s=SHORT_S
        )
        request = read_request("vinegar", now_ms=START_MS)
        traces = [Trace() for _ in range(3)]

        works = [stage(request, Work(LoadedTexts(notes.vault.documents)), trace) for trace in traces]

        assert [list(trace.degraded) for trace in traces] == [["vector"]] * 3
        assert all(work.legs["line"] for work in works)

    @pytest.mark.parametrize("unit", list(Unit))
    def test_another_model(self, notes: NotesVault, unit: Unit) -> None:
        """Two vector spaces are never compared: ``vsearch`` refuses, ``query`` answers by words."""
        notes.take_in({"kettle.md": KETTLE})
        notes.embedder = RenamedEmbedder()

        with pytest.raises(ModelMismatch) as caught:
            notes.ask("vinegar", "vsearch", unit=unit)
        answer = notes.ask("vinegar", "query", unit=unit)

        assert f"{HashingEmbedder.fingerprint!r}, but the embedder is 'another-model'" in str(caught.value)
        assert set(paths(answer)) == {"kettle.md"}
        assert list(answer.trace.degraded) == ["vector"]

    def test_meaning(self, notes: NotesVault) -> None:
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


def pin(notes: NotesVault, path: str) -> None:
    notes.vault.storage.db.write("update documents set pinned = 1 where id = ?", (notes.id(path),))


ENDING = ["dates", "score", "supersede", "changes", "confidence", "cut", "tasks"]


class TestList:
    @pytest.mark.parametrize("question", ["which heron stood in the reeds", "heron reeds"])
    def test_the_first_do_not_depend_on_the_limit(self, notes: NotesVault, question: str) -> None:
        """The first five of ten or fifty are the five that a limit of five gives, scores included."""
        notes.take_in(herons())

        for verb, unit in product(VERBS, Unit):
            few, some, many = (
                [
                    (r.document.path, r.start_line, r.score)
                    for r in notes.ask(question, verb, limit=n, unit=unit).results
                ]
                for n in (5, 10, 50)
            )
            assert len(few) == 5
            assert few == some[:5] == many[:5], (verb, unit)
            assert some == many[:10], (verb, unit)

    def test_the_minimum_score_cuts(self, notes: NotesVault) -> None:
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
    def test_scores_fall_and_stay_in_bounds(self, notes: NotesVault, verb: str) -> None:
        """Shown scores lie between 0 and 1 and never rise down the list."""
        notes.take_in(herons())
        pin(notes, "3.md")

        scores = [r.score for r in notes.ask("heron reeds", verb, limit=50, diverse=False).results]

        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)

    @pytest.mark.parametrize("diverse", [True, False])
    def test_near_copies(self, notes: NotesVault, diverse: bool) -> None:
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
            ("search", ["search", "fuse", *ENDING]),
            ("vsearch", ["search", "nearest", "dates", "score", "supersede", "changes", "cut", "tasks"]),
            ("query", ["search", "fuse", "weigh vectors", *ENDING]),
        ],
    )
    def test_the_trace(self, notes: NotesVault, verb: str, stages: list[str], unit: Unit) -> None:
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


class TestRanking:
    @pytest.mark.parametrize(
        ("question", "first"),
        [
            ("when does Bob say the boat leaves", "**Bob:**"),
            ("when does Ann say the boat leaves", "**Ann:**"),
            ("when does my boat leave", "user:"),
        ],
    )
    def test_a_named_speaker(self, notes: NotesVault, question: str, first: str) -> None:
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


@pytest.mark.parametrize(
    "question", ["what was our latest decision on Redis in May?", "what happened in June"]
)
def test_stages_read_a_question_once(notes_vault: NotesVault, question: str) -> None:
    """No rule of retrieval that reads the text is called twice for one answer by query."""
    notes_vault.take_in({"decisions/redis.md": "# Redis\n\nWe decided to keep sessions in Redis.\n"})
    pipeline, request = notes_vault.pipeline("query"), notes_vault.request(question)
    calls: Counter[str] = Counter()

    def profiled(frame: FrameType, event: str, argument: object) -> None:
        code, caller = frame.f_code, frame.f_back
        if (
            event != "call"
            or "/domain/retrieval/" not in code.co_filename
            or not code.co_argcount
            or not caller
        ):
            return
        if frame.f_locals.get(code.co_varnames[0]) != question:
            return
        if "/domain/" not in caller.f_code.co_filename or caller.f_code.co_filename == analysis.__file__:
            calls[code.co_name] += 1

    sys.setprofile(profiled)
    try:
        pipeline(request)
    finally:
        sys.setprofile(None)

    assert {"query_forms", "asks_for_recent"} <= calls.keys()
    assert max(calls.values()) == 1
