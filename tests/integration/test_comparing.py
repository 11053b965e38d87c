"""Questions to real vaults, whose best candidates are compared with the question word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import date
from functools import cache, partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.memory.files import MemoryFiles
from clawmem.adapters.memory.late_interaction import ExactWords
from clawmem.adapters.models.static_words import StaticWords
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.graph.build import BuildGraphs
from clawmem.app.services.indexing.embed import EmbedPending
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.legs.ask_all import RunRetrievers
from clawmem.app.services.retrieval.legs.lexical import lexical_retriever
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.pipelines.intent_search import intent_search
from clawmem.app.services.retrieval.pipelines.memory_retrieve import MemoryRetrieve
from clawmem.app.services.retrieval.pipelines.query import query
from clawmem.app.services.retrieval.pipelines.query_plan import query_plan
from clawmem.app.services.retrieval.pipelines.search import search
from clawmem.app.services.retrieval.pipelines.vsearch import vsearch
from clawmem.app.services.retrieval.pipelines.with_models import Models
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.stages.compare import DOCUMENTS, LATE_INTERACTION, LINES, compare
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.work import Stage
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.grains import BEST_LINE, COVERAGE, DOCUMENT_WEIGHTS, NUMBER, TIME
from clawmem.domain.retrieval.routing import Route
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.late_interaction import LateInteraction, WordSimilarities
from clawmem.ports.vault import Vault

NOW_MS = parse_iso("2026-06-17T12:00:00Z") or 0  # a Wednesday
Ask = Callable[[RetrievalRequest], Answer]


def filled(vault: SqliteVault, texts: Mapping[str, str], collection: str = "notes") -> SqliteVault:
    """*vault* with a note for each of *texts*, with vectors."""
    files = MemoryFiles()
    for path, text in texts.items():
        files.write(f"/{collection}/{path}", text.encode(), mtime_ns=NOW_MS * 1_000_000)
    UpdateCollection(vault, files, ManualClock(NOW_MS), parse_yaml)(Folder(collection, f"/{collection}"))
    EmbedPending(vault, HashingEmbedder())()
    return vault


def asked(question: str, **rest: object) -> RetrievalRequest:
    return read_request(question, now_ms=NOW_MS, show_all=True, **rest)  # type: ignore[arg-type]


def pipelines(vault: Vault, late: LateInteraction | None = None) -> dict[str, Ask]:
    """Every way to ask, by its name."""
    embedder = HashingEmbedder()
    made: dict[str, Ask] = {
        "search": search(vault),
        "vsearch": vsearch(vault, embedder),
        "query": query(vault, embedder, late),
        "intent_search": intent_search(vault, embedder),
        "query_plan": query_plan(vault, embedder),
    }
    retrieve = MemoryRetrieve(vault, {name: partial(made.__getitem__, name) for name in made})
    return {**made, "memory_retrieve": lambda request: retrieve(request, Route.HYBRID)}


NAMES = ("search", "vsearch", "query", "intent_search", "query_plan", "memory_retrieve")


def paths(answer: Answer) -> list[str]:
    return [result.document.path for result in answer.results]


def shown(answer: Answer) -> list[tuple[str, int]]:
    """Where the answers begin."""
    return [(result.document.path, result.start_line) for result in answer.results]


@pytest.fixture(scope="module")
def late() -> StaticWords:
    return StaticWords()


class TestLines:
    CHAT = (
        "- Ann: Ann likes walks in the rain.\n"
        "- Bob: It may be windy.\n"
        "- Bob: Let us see.\n"
        "- Bob: Let us wait.\n"
        "- Ann: Ann bought a car from the dealer.\n"
    )

    def test_a_synonym_lifts_a_line(self, vault: SqliteVault, late: StaticWords) -> None:
        """Of two lines with the same one word of the question the one that means the rest of it is first."""
        filled(vault, {"chat.md": self.CHAT})
        request = asked("which automobile did Ann purchase", unit=Unit.LINE)

        without = query(vault, HashingEmbedder())(request)
        compared = query(vault, HashingEmbedder(), late)(request)

        assert shown(without)[0] == ("chat.md", 1)
        assert shown(compared)[0] == ("chat.md", 5)
        assert sorted(shown(compared)) == sorted(shown(without))
        assert compared.results[0].legs[COVERAGE] == 1.0

    def test_exact_words_lift_no_synonym(self, vault: SqliteVault) -> None:
        """What lifted it is the meaning of the words, not the comparison itself."""
        filled(vault, {"chat.md": self.CHAT})

        compared = query(vault, HashingEmbedder(), ExactWords())(
            asked("which automobile did Ann purchase", unit=Unit.LINE)
        )

        assert shown(compared)[0] == ("chat.md", 1)

    def test_a_number_is_asked_for(self, vault: SqliteVault, late: StaticWords) -> None:
        """Where the answer must hold a number a line with one gains, and only then."""
        filled(vault, {"bees.md": "- The hive has bees.\n\nA wall.\n\nA door.\n\n- The hive has 12 bees.\n"})
        ask = query(vault, HashingEmbedder(), late)

        many, which = (
            ask(asked(f"{how} bees has the hive", unit=Unit.LINE)) for how in ("how many", "which")
        )

        assert shown(many)[0] == ("bees.md", 7)
        assert many.results[0].legs[NUMBER] == 1.0
        assert all(NUMBER not in result.legs for result in which.results)

    def test_no_line_holds_a_word(self, vault: SqliteVault, late: StaticWords) -> None:
        """Then the nearest passages are the answer as they were: nothing is compared, nothing degraded."""
        filled(vault, {"kettle.md": "# Kettle\n\nIt whistles in C sharp.\n"})
        request = asked("zeppelin", unit=Unit.LINE)

        compared = query(vault, HashingEmbedder(), late)(request)

        assert shown(compared) == shown(query(vault, HashingEmbedder())(request)) != []
        assert all(COVERAGE not in result.legs for result in compared.results)
        assert compared.trace.degraded == {}


class TestDocuments:
    def test_the_best_line_is_shown(self, vault: SqliteVault, late: StaticWords) -> None:
        """A document is shown at the line that covers the question, not where its first word stands."""
        text = (
            "# Garage\n\nAnn and the rain.\n\nA wall.\n\nA door.\n\nA roof.\n\n"
            "Ann bought a car from the dealer.\n\nA window.\n"
        )
        filled(vault, {"garage.md": text})
        request = asked("which automobile did Ann purchase")

        assert shown(query(vault, HashingEmbedder())(request)) == [("garage.md", 3)]
        assert shown(query(vault, HashingEmbedder(), late)(request)) == [("garage.md", 11)]

    def test_a_synonym_lifts_a_document(self, vault: SqliteVault, late: StaticWords) -> None:
        """A document counts by its best line, and that by what its words mean."""
        filled(
            vault,
            {
                "a.md": "# One\n\nAnn admired a stone on the wall.\n\nOf the rain.\n",
                "b.md": "# Two\n\nAnn bought a car from the dealer.\n\nOf the sun.\n",
            },
        )
        request = asked("which automobile did Ann purchase")

        compared = query(vault, HashingEmbedder(), late)(request)

        assert paths(compared) == ["b.md", "a.md"]
        assert compared.results[0].legs[BEST_LINE] == 1.0
        assert paths(query(vault, HashingEmbedder())(request)) == ["a.md", "b.md"]

    def test_a_document_without_a_line_that_was_read(self, vault: SqliteVault, late: StaticWords) -> None:
        """One that only its title or its vector brought stays on the list."""
        filled(vault, {"a.md": "# Amber\n\nNothing else.\n", "b.md": "# Beach\n\nThe amber of the beach.\n"})

        answer = query(vault, HashingEmbedder(), late)(asked("where is the amber"))

        assert sorted(paths(answer)) == ["a.md", "b.md"]

    def test_names_stay_first(self, vault: SqliteVault, late: StaticWords) -> None:
        """A note with every word of a name is above all others also after the comparison."""
        texts = {f"{n}.md": f"# Vessel {n}\n\nThe amber ship lay in port {n}.\n" for n in range(6)}
        texts["both.md"] = f"# Beach\n\nSeals in the harbour.\n\n{'A stone.' * 50}\n\nOnce, amber.\n"
        filled(vault, texts)

        answer = query(vault, HashingEmbedder(), late)(asked("amber harbour"))

        assert paths(answer)[0] == "both.md"
        assert [result.legs["precise"] for result in answer.results] == [1.0, *[0.0] * 6]


class TestWhatWasNotRead:
    @pytest.mark.parametrize(("unit", "read"), [(Unit.DOCUMENT, DOCUMENTS), (Unit.LINE, LINES)])
    def test_it_follows_in_its_order(
        self, vault: SqliteVault, late: StaticWords, unit: Unit, read: int
    ) -> None:
        """Those that were read stay above those that were not, which keep the order that they had."""
        kinds = ("kettle", "whistle", "steam", "spout")
        filled(
            vault,
            {
                f"{n:02d}.md": " ".join(kind for bit, kind in enumerate(kinds) if (n + 1) >> bit & 1)
                + f" and {'filler ' * (n % 23)} kettle of note {n}.\n"
                for n in range(90)
            },
        )
        request = asked("does the kettle whistle or steam", unit=unit)
        stages: dict[str, Stage] = {
            "search": RunRetrievers({"lexical": lexical_retriever(vault)}),
            "fuse": fuse(vault),
        }

        before, _ = Pipeline(vault, stages).rank(request)
        after, _ = Pipeline(vault, {**stages, "compare": compare(vault, late)}).rank(request)

        assert len(after.candidates) == len(before.candidates) > read
        assert {c.document_id for c in after.candidates[:read]} == {
            c.document_id for c in before.candidates[:read]
        }
        assert [c.document_id for c in after.candidates[read:]] == [
            c.document_id for c in before.candidates[read:]
        ]
        relevance = [c.relevance for c in after.candidates]
        assert relevance == sorted(relevance, reverse=True)


class Broken:
    """Late interaction that fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        raise self._error


class Mixed:
    """Late interaction that answers for another number of texts."""

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        return WordSimilarities((1.0,), ((1.0,),) * (len(texts) + 1))


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (Broken(EmbeddingError("The vectors cannot be loaded.")), "The vectors cannot be loaded."),
        (Broken(ZeroDivisionError()), "ZeroDivisionError"),
        (Mixed(), "ValueError"),
    ],
)
def test_a_comparison_that_fails(
    vault: SqliteVault, unit: Unit, broken: LateInteraction, reason: str
) -> None:
    """The answer is the one without it, and says what was missing."""
    filled(vault, {"kettle.md": "# Kettle\n\nThe kettle whistles.\n", "cup.md": "# Cup\n\nNo whistle.\n"})
    request = asked("does the kettle whistle", unit=unit)

    answer = query(vault, HashingEmbedder(), broken)(request)

    assert answer.results == query(vault, HashingEmbedder())(request).results != ()
    assert answer.trace.degraded.keys() == {LATE_INTERACTION}
    assert reason in answer.trace.degraded[LATE_INTERACTION]


@pytest.mark.parametrize("question", ["???", "… — !", "🎉"])
@pytest.mark.parametrize("unit", list(Unit))
def test_a_question_without_words(vault: SqliteVault, late: StaticWords, unit: Unit, question: str) -> None:
    """Nothing is found, nothing compared, nothing degraded."""
    filled(vault, {"marks.md": "🎉 ??? … — !\n", "kettle.md": "# Kettle\n\nIt whistles.\n"})

    answer = query(vault, HashingEmbedder(), late)(asked(question, unit=unit))

    assert (answer.results, answer.trace.degraded) == ((), {})


class TestNamedTime:
    WEEKS: Mapping[str, str] = {
        f"2026-{day}-meeting.md": f"# Meeting {n}\n\nWe talked about the boat, for the {n}. time.\n"
        for n, day in enumerate(("05-04", "05-20", "06-10", "06-16"), start=1)
    }

    def test_a_note_of_the_time_is_lifted(self, vault: SqliteVault) -> None:
        """What was written when the question says comes first; the others are still there."""
        filled(vault, self.WEEKS)

        for unit in Unit:
            answer = query(vault, HashingEmbedder())(
                asked("what did we say of the boat in the week of 2026-05-20", unit=unit, diverse=False)
            )
            assert paths(answer)[0] == "2026-05-20-meeting.md"
            assert set(paths(answer)) == set(self.WEEKS)
            assert answer.results[0].legs[TIME] == 1.0
            assert [TIME in result.legs for result in answer.results].count(True) == 1

    def test_no_time_is_named(self, vault: SqliteVault) -> None:
        """Then the leg says nothing, and counts in nothing."""
        filled(vault, self.WEEKS)

        answer = query(vault, HashingEmbedder())(asked("what may the boat be"))

        assert TIME not in answer.trace.hits
        assert all(TIME not in result.legs for result in answer.results)

    def test_within_a_collection(self, vault: SqliteVault) -> None:
        """A note of the named time in another collection is not seen."""
        filled(vault, self.WEEKS)
        filled(vault, {"2026-05-21-other.md": "# Other\n\nThe boat.\n"}, "others")

        answer = query(vault, HashingEmbedder())(asked("the boat in May 2026?", collections=["others"]))

        assert paths(answer) == ["2026-05-21-other.md"]
        assert answer.trace.hits[TIME] == 1

    def test_a_time_that_must_not_be_seen(self, vault: SqliteVault) -> None:
        """A question may name a time after the last day that it may see: nothing of it is found."""
        filled(vault, self.WEEKS)

        answer = query(vault, HashingEmbedder())(asked("the boat in June 2026?", until="2026-05-31"))

        assert sorted(paths(answer)) == ["2026-05-04-meeting.md", "2026-05-20-meeting.md"]
        assert answer.trace.hits[TIME] == 0


class OtherWords:
    """A generator that knows another word for a kettle."""

    fingerprint = "other-words"

    def generate(self, prompt: str, **rest: object) -> str:
        return "lex: kettle urn urn urn\n"


def test_other_words_weigh_half(vault: SqliteVault) -> None:
    """A note that only the other words found has half of what the question's own words would bring it."""
    filled(vault, {"urn.md": "An urn.\n", "kettle.md": "A kettle, and a question: what is it for?\n"})
    models = Models(OtherWords(), clock=ManualClock(NOW_MS))

    answer = query(vault, HashingEmbedder(), models=models)(
        asked("tell me of kettle things and of nothing else")
    )

    (urn,) = (result for result in answer.results if result.document.path == "urn.md")
    legs = {name: share for name, share in urn.legs.items() if name != "vector"}
    assert legs == {"document~1": 1.0, "passage~1": 1.0}
    usual = sum(weight for name, weight in DOCUMENT_WEIGHTS.items() if name in answer.trace.hits)
    by_meaning = DOCUMENT_WEIGHTS["vector"] * urn.legs.get("vector", 0.0)
    assert urn.relevance == pytest.approx((0.5 + 0.5 + by_meaning) / (usual + 0.5 + 0.5))


# -- whatever is in the vault ------------------------------------------------------------------------------

WORDS = "kettle whistle steam spout water boat harbour bee honey hive car garden rain wall tower".split()
QUESTIONS = (
    "does the kettle whistle",
    "why did the boat leave the harbour",
    "how many bees are in the hive",
    "kettle steam",
    "what about honey in May 2026 and the garden in the rain",
    "who saw the car, and when did the tower fall",
)
OPENED = ExitStack()


@pytest.fixture(scope="module", autouse=True)
def opened_vaults() -> Iterator[None]:
    """Those of `some_vault` are closed at the end."""
    yield
    OPENED.close()


@cache
def some_vault(seed: int) -> SqliteVault:
    """A small vault of chance: notes of several lines over half a year, with relations in time."""
    chance = Random(seed)
    texts = {
        f"2026-{1 + n % 6:02d}-{1 + n % 28:02d}-{n}.md": _some_note(chance, n)
        for n in range(chance.choice((3, 12, 60, 130)))
    }
    vault = filled(SqliteVault(":memory:"), texts)
    OPENED.callback(vault.close)
    BuildGraphs(vault, ManualClock(NOW_MS)).temporal()
    return vault


def _some_note(chance: Random, number: int) -> str:
    lines = [" ".join(chance.choices(WORDS, k=chance.randint(2, 9))) for _ in range(chance.randint(1, 4))]
    return f"# Note {number}\n\n" + "".join(f"{line.capitalize()} {number}.\n\n" for line in lines)


ASKED = st.tuples(
    st.integers(0, 5), st.sampled_from(NAMES), st.sampled_from(QUESTIONS), st.sampled_from(list(Unit))
)


@settings(max_examples=40)
@given(ASKED, st.integers(1, MAX_LIMIT))
def test_the_top_is_the_same_for_every_limit(case: tuple[int, str, str, Unit], limit: int) -> None:
    """However many answers are wanted, the first ones are the same, in every pipeline."""
    seed, name, question, unit = case
    ask = pipelines(some_vault(seed), StaticWords())[name]

    few, many = (ask(asked(question, unit=unit, limit=most)) for most in (limit, MAX_LIMIT))

    assert [(r.document.id, r.start_line, r.score) for r in few.results] == [
        (r.document.id, r.start_line, r.score) for r in many.results[:limit]
    ]


@settings(max_examples=40)
@given(ASKED, st.dates(date(2025, 12, 31), date(2026, 7, 1)))
def test_nothing_of_later_is_ever_seen(case: tuple[int, str, str, Unit], last: date) -> None:
    """No pipeline, along whatever leg or relation, answers with what was written after the last day to be seen."""
    seed, name, question, unit = case

    answer = pipelines(some_vault(seed), StaticWords())[name](
        asked(question, unit=unit, limit=MAX_LIMIT, until=str(last))
    )

    assert all(result.document.authored_at[:10] <= str(last) for result in answer.results)
