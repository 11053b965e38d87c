"""Notes of the time that a question names, and answers that do not depend on the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import partial

import pytest
from compared_vault import OPENED, asked, filled, some_vault
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_vault import paths
from vault_stores import retrieval_stores

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.models.local import StaticWords
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines import intent_search, query, search, vsearch
from clawmem.app.services.retrieval.plan import MemoryRetrieve, QueryPlan
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.domain.retrieval.grains import TIME
from clawmem.domain.retrieval.relevance import LIKELY
from clawmem.domain.retrieval.routing import Route
from clawmem.ports.models import LateInteraction
from clawmem.ports.vault import Vault

Ask = Callable[[RetrievalRequest], Answer]


def pipelines(vault: Vault, late: LateInteraction | None = None) -> dict[str, Ask]:
    """Every way to ask, by its name."""
    embedder = HashingEmbedder()
    made: dict[str, Ask] = {
        "search": search(retrieval_stores(vault)),
        "vsearch": vsearch(retrieval_stores(vault), embedder),
        "query": query(retrieval_stores(vault), embedder, late),
        "intent_search": intent_search(retrieval_stores(vault), embedder),
        "query_plan": QueryPlan(retrieval_stores(vault), embedder),
    }
    retrieve = MemoryRetrieve(
        vault.documents, vault.sessions, {name: partial(made.__getitem__, name) for name in made}
    )
    return {**made, "memory_retrieve": lambda request: retrieve(request, Route.HYBRID)}


NAMES = ("search", "vsearch", "query", "intent_search", "query_plan", "memory_retrieve")


@pytest.fixture(scope="module")
def late() -> StaticWords:
    return StaticWords()


class TestNamedTime:
    WEEKS: Mapping[str, str] = {
        f"2026-{day}-meeting.md": f"# Meeting {n}\n\nWe talked about the boat, for the {n}. time.\n"
        for n, day in enumerate(("05-04", "05-20", "06-10", "06-16"), start=1)
    }

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

    def test_a_note_of_the_time_is_lifted(self, vault: Vault) -> None:
        """What was written when the question says comes first; the others are still there."""
        filled(vault, self.WEEKS)

        for unit in Unit:
            answer = query(retrieval_stores(vault), HashingEmbedder())(
                asked("what did we say of the boat in the week of 2026-05-20", unit=unit, diverse=False)
            )
            assert paths(answer)[0] == "2026-05-20-meeting.md"
            assert set(paths(answer)) == set(self.WEEKS)
            assert answer.results[0].legs[TIME] == 1.0
            assert [TIME in result.legs for result in answer.results].count(True) == 1

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


@pytest.fixture(scope="module", autouse=True)
def opened_vaults() -> Iterator[None]:
    """Those of `some_vault` are closed at the end."""
    yield
    OPENED.close()


ASKED = st.tuples(
    st.integers(0, 5), st.sampled_from(NAMES), st.sampled_from(QUESTIONS), st.sampled_from(list(Unit))
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
