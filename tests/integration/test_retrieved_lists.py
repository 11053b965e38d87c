"""The list of an answer: its length, its order, its trace and what ranks it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

import pytest
from notes_vault import VERBS, NotesVault, paths

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import Unit
from clawmem.domain.retrieval import question as analysis


def lines(answer: Answer) -> list[tuple[str, int, int]]:
    return [(result.document.path, result.start_line, result.end_line) for result in answer.results]


@pytest.fixture
def notes(notes_vault: NotesVault) -> NotesVault:
    return notes_vault


def pin(notes: NotesVault, path: str) -> None:
    notes.vault.storage._db.write("update documents set pinned = 1 where id = ?", (notes.id(path),))


ENDING = ["dates", "score", "supersede", "changes", "confidence", "cut"]


class TestList:
    @pytest.mark.parametrize("verb", VERBS)
    @pytest.mark.parametrize("question", ["which heron stood in the reeds", "heron reeds"])
    @pytest.mark.parametrize("unit", list(Unit))
    def test_the_first_do_not_depend_on_the_limit(
        self, notes: NotesVault, verb: str, question: str, unit: Unit
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
            ("vsearch", ["search", "nearest", "dates", "score", "supersede", "changes", "cut"]),
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
    def test_a_pin_lifts_among_equals(self, notes: NotesVault) -> None:
        """Of equal matches the pinned one is first, and says why."""
        notes.take_in({f"{n}.md": f"Ferry number{n} leaves at noon.\n" for n in range(4)})
        plain = notes.found("when does the ferry leave")
        pin(notes, "2.md")

        answer = notes.ask("when does the ferry leave")

        assert plain == ["0.md", "1.md", "2.md", "3.md"]
        assert paths(answer) == ["2.md", "0.md", "1.md", "3.md"]
        assert [r.terms["pin"] > 0 for r in answer.results] == [True, False, False, False]
        assert sum(answer.results[0].terms.values()) > sum(answer.results[1].terms.values()) > 0

    @pytest.mark.parametrize(
        ("question", "first"),
        [("what is the latest plan for the orchard", "b.md"), ("what is the plan for the orchard", "a.md")],
    )
    def test_what_is_recent(self, notes: NotesVault, question: str, first: str) -> None:
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
    "question", ["what was our latest decision on Redis last week?", "what happened in June"]
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
