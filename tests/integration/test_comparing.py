"""Candidates that are compared word by word, notes of the time that a question names, and the limit of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import date
from functools import cache
from random import Random

import pytest
from file_tree import FileTree
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_vault import paths
from vault_stores import WAYS, one_way_in, retrieval_stores, ways_to_ask
from wired import embed_pending, update_collection, wired

from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.models.local import StaticWords
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.models import LATE_INTERACTION
from clawmem.app.services.retrieval.pipelines import query
from clawmem.app.services.retrieval.plan import Ask
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit, read_request
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.grains import BEST_LINE, COVERAGE
from clawmem.domain.retrieval.planning import Route
from clawmem.domain.retrieval.relevance import LIKELY
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.models import LateInteraction, WordSimilarities
from clawmem.ports.vault import Vault


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

    def test_a_synonym_lifts_a_line(self, vault: Vault, late: StaticWords) -> None:
        """Of two lines with the same one word of the question the one that means the rest of it is first."""
        filled(vault, {"chat.md": self.CHAT})
        request = asked("which automobile did Ann purchase", unit=Unit.LINE)

        without = query(retrieval_stores(vault), HashingEmbedder())(request)
        compared = query(retrieval_stores(vault), HashingEmbedder(), late)(request)

        assert shown(without)[0] == ("chat.md", 1)
        assert shown(compared)[0] == ("chat.md", 5)
        assert sorted(shown(compared)) == sorted(shown(without))
        assert compared.results[0].legs[COVERAGE] == 1.0


class TestDocuments:
    def test_the_best_line_is_shown(self, vault: Vault, late: StaticWords) -> None:
        """A document is shown at the line that covers the question, not where its first word stands."""
        text = (
            f"# Garage\n\nAnn and the rain.\n\nA {'high ' * 90}wall.\n\nA door.\n\nA {'flat ' * 90}roof.\n\n"
            "Ann bought a car from the dealer.\n\nA window.\n"
        )
        filled(vault, {"garage.md": text})
        request = asked("which automobile did Ann purchase")

        assert shown(query(retrieval_stores(vault), HashingEmbedder())(request)) == [("garage.md", 3)]
        assert shown(query(retrieval_stores(vault), HashingEmbedder(), late)(request)) == [("garage.md", 11)]

    def test_a_synonym_lifts_a_document(self, vault: Vault, late: StaticWords) -> None:
        """A document counts by its best line, and that by what its words mean."""
        filled(
            vault,
            {
                "a.md": "# One\n\nAnn admired a stone on the wall.\n\nOf the rain.\n",
                "b.md": "# Two\n\nAnn bought a car from the dealer.\n\nOf the sun.\n",
            },
        )
        request = asked("which automobile did Ann purchase")

        compared = query(retrieval_stores(vault), HashingEmbedder(), late)(request)

        assert paths(compared) == ["b.md", "a.md"]
        assert compared.results[0].legs[BEST_LINE] == 1.0
        assert paths(query(retrieval_stores(vault), HashingEmbedder())(request)) == ["a.md", "b.md"]


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
def test_a_comparison_that_fails(vault: Vault, unit: Unit, broken: LateInteraction, reason: str) -> None:
    """The answer is the one without it, and says what was missing."""
    filled(vault, {"kettle.md": "# Kettle\n\nThe kettle whistles.\n", "cup.md": "# Cup\n\nNo whistle.\n"})
    request = asked("does the kettle whistle", unit=unit)

    answer = query(retrieval_stores(vault), HashingEmbedder(), broken)(request)

    assert answer.results == query(retrieval_stores(vault), HashingEmbedder())(request).results != ()
    assert answer.trace.degraded.keys() == {LATE_INTERACTION}
    assert reason in answer.trace.degraded[LATE_INTERACTION]


@pytest.fixture(scope="module", autouse=True)
def opened_vaults() -> Iterator[None]:
    """Those of `some_vault` are closed at the end."""
    yield
    OPENED.close()


NOW_MS = parse_iso("2026-06-17T12:00:00Z") or 0  # a Wednesday


def filled(vault: Vault, texts: Mapping[str, str], collection: str = "notes") -> Vault:
    """*vault* with a note for each of *texts*, with vectors."""
    files = FileTree()
    for path, text in texts.items():
        files.write(f"/{collection}/{path}", text.encode(), mtime_ns=NOW_MS * 1_000_000)
    update_collection(vault, files, ManualClock(NOW_MS), parse_front_matter)(
        Folder(collection, f"/{collection}")
    )
    embed_pending(vault, HashingEmbedder())()
    return vault


def asked(question: str, **rest: object) -> RetrievalRequest:
    return read_request(question, now_ms=NOW_MS, show_all=True, **rest)  # type: ignore[arg-type]


WORDS = "kettle whistle steam spout water boat harbour bee honey hive car garden rain wall tower".split()
OPENED = ExitStack()


@cache
def some_vault(seed: int) -> Vault:
    """A small vault of chance: notes of several lines over half a year, with relations in time."""
    chance = Random(seed)
    texts = {
        f"2026-{1 + n % 6:02d}-{1 + n % 28:02d}-{n}.md": _some_note(chance, n)
        for n in range(chance.choice((3, 12, 60, 130)))
    }
    vault = filled(open_vault(":memory:"), texts)
    OPENED.callback(vault.close)
    wired(vault, ManualClock(NOW_MS)).build_graphs().temporal()
    return vault


def _some_note(chance: Random, number: int) -> str:
    lines = [" ".join(chance.choices(WORDS, k=chance.randint(2, 9))) for _ in range(chance.randint(1, 4))]
    return f"# Note {number}\n\n" + "".join(f"{line.capitalize()} {number}.\n\n" for line in lines)


def pipelines(vault: Vault, late: LateInteraction | None = None) -> dict[str, Ask]:
    ways = ways_to_ask(vault, HashingEmbedder(), late)
    retrieve = one_way_in(vault, ways)
    return {**ways, "memory_retrieve": lambda request: retrieve(request, Route.HYBRID)}


class TestNamedTime:
    def test_meetings_of_a_time_are_found_by_their_folder(self, vault: Vault) -> None:
        """The word is a topic like any other: other notes of that time are not likely."""
        notes = {
            "meetings/2026-05-04-boat.md": "# Boat\n\nWe talked about the boat.\n",
            "home/2026-05-20-worktop.md": "# Worktop\n\nIt is stainless steel.\n",
        }
        filled(vault, notes)

        answer = pipelines(vault)["query"](asked("meetings in May 2026"))

        assert paths(answer) == [*notes]
        first, second = (result.confidence or 0.0 for result in answer.results)
        assert first >= LIKELY > second

    @pytest.mark.parametrize(
        "head", ["tags: [origin:assistant]", "tags: [origin:imported]", "content_type: conversation"]
    )
    def test_notes_of_the_owner_come_before_generated_and_imported_texts(
        self, vault: Vault, head: str
    ) -> None:
        """Of a time all notes of the owner; of a topic the own note, where both match alike."""
        text = "Mended the boat in the harbour.\n"
        filled(
            vault,
            {
                "handoff.md": f"---\ndate: 2026-06-11\n{head}\n---\n# Boat\n\n{text}",
                "diary.md": f"---\ndate: 2026-06-09\n---\n# Boat\n\n{text}",
            },
        )

        of_time = pipelines(vault)["query"](asked("what did I do last week"))
        assert paths(of_time) == ["diary.md", "handoff.md"]
        assert of_time.results[1].confidence < LIKELY <= of_time.results[0].confidence  # type: ignore[operator]
        assert paths(pipelines(vault)["query"](asked("who mended the boat", diverse=False))) == [
            "diary.md",
            "handoff.md",
        ]


QUESTIONS = """
does the kettle whistle
why did the boat leave the harbour
how many bees are in the hive
kettle steam
what about honey in May 2026 and the garden in the rain
who saw the car, and when did the tower fall
""".strip().splitlines()
ASKED = st.tuples(
    st.integers(0, 5),
    st.sampled_from([*WAYS, "memory_retrieve"]),
    st.sampled_from(QUESTIONS),
    st.sampled_from(list(Unit)),
)


@settings(max_examples=40)
@given(ASKED, st.dates(date(2025, 12, 31), date(2026, 7, 1)))
def test_nothing_of_later_is_ever_seen(case: tuple[int, str, str, Unit], last: date) -> None:
    """No pipeline, along whatever leg or relation, answers with what was written after the last day to be seen."""
    seed, name, question, unit = case

    answer = pipelines(some_vault(seed), StaticWords())[name](
        asked(question, unit=unit, limit=MAX_LIMIT, until=str(last))
    )

    assert all(result.document.authored_at[:10] <= str(last) for result in answer.results)
