"""One question, whichever way it calls for; what is near to a document; what was changed around it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from notes_vault import NotesVault, paths
from vault_stores import WAYS, retrieval_stores, ways_to_ask
from wired import wired

from clawmem.adapters.memory.clock import START_MS
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines import find_similar, vsearch
from clawmem.app.services.retrieval.plan import Ask, MemoryRetrieve
from clawmem.app.services.retrieval.request import LEAST_COSINE, read_request
from clawmem.domain.retrieval.planning import Route
from clawmem.ports.sessions import Session

NOTES = {
    "tea.md": "# Oolong\n\nOolong is brewed at 85 degrees.\n",
    "green.md": "# Green tea\n\nGreen oolong is brewed at 70 degrees.\n",
    "bike.md": "# Bicycle\n\nThe bicycle has a flat tyre.\n",
    "boat.md": "# Boat\n\nThe boat lies in the harbour of Moss.\n",
}


class Home(NotesVault):
    """A vault of four notes, changed an hour after each other, and every way to ask it."""

    def __init__(self, place: Path, *, vectors: bool = True) -> None:
        super().__init__(place)
        self.made: list[str] = []
        for hour, (path, text) in enumerate(NOTES.items(), start=1):
            self.write(path, text, hours_ago=10 - hour)
        self.take_in({}, vectors=vectors)
        makers = {way: partial(self._make, way) for way in WAYS}
        self.retrieve = MemoryRetrieve(self.vault.documents, self.vault.sessions, makers)

    def ask(self, question: str, mode: Route | None = None, *, limit: int = 10) -> Answer:
        return self.retrieve(self.request(question, limit=limit, show_all=False), mode)

    def _make(self, way: str) -> Ask:
        self.made.append(way)
        return ways_to_ask(self.vault, self.embedder)[way]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.vault.close()


@pytest.fixture
def without_vectors(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path, vectors=False)
    yield home
    home.vault.close()


@pytest.mark.parametrize(
    ("question", "mode", "way", "first"),
    [
        ("what did we do yesterday with the bicycle", Route.TIMELINE, "query", "bike.md"),
        ("why did the bicycle get a flat tyre", Route.CAUSAL, "intent_search", "bike.md"),
        ("anything similar to the boat in the harbour", Route.DISCOVERY, "vsearch", "boat.md"),
        ("where is the boat and also is the bicycle flat", Route.COMPLEX, "query_plan", "boat.md"),
        ("the boat error in MOSS", Route.KEYWORD, "search", "boat.md"),
        ("explain the boat in the harbour", Route.SEMANTIC, "vsearch", "boat.md"),
        ("the bicycle has a tyre", Route.HYBRID, "query", "bike.md"),
    ],
)
def test_a_question_takes_its_way(home: Home, question: str, mode: Route, way: str, first: str) -> None:
    """The words choose, one pipeline is made, and the answer says which way it came."""
    answer = home.ask(question)

    assert (answer.mode, home.made) == (mode, [way])
    assert paths(answer)[0] == first
    assert answer.query == question


@pytest.mark.parametrize("mode", Route)
def test_a_way_can_be_forced(home: Home, mode: Route) -> None:
    """Whatever the words say, whoever asks knows better; the note about it is found on every way."""
    answer = home.ask("the bicycle has a flat tyre", mode)

    assert answer.mode is mode
    assert paths(answer)[0] == "bike.md"


def test_the_timeline_way_tells_the_latest_sessions(home: Home) -> None:
    """Newest first, as many as the limit says, and beside them the documents."""
    sessions = [
        Session(f"s{day}", f"2024-01-0{day}T08:00:00.000Z", summary=f"Day {day}.") for day in (1, 2, 3)
    ]
    for session in sessions:
        home.vault.sessions.save(session)

    answer = home.ask("what did we do yesterday with the bicycle", limit=2)

    assert answer.sessions == (sessions[2], sessions[1])
    assert paths(answer)[0] == "bike.md"
    assert answer.trace.degraded == {}


@pytest.mark.parametrize("mode", [Route.SEMANTIC, Route.DISCOVERY])
def test_without_vectors_meaning_falls_back_to_words(without_vectors: Home, mode: Route) -> None:
    """Something is found, and the answer says by which means."""
    answer = without_vectors.ask("boat in the harbour", mode)

    assert paths(answer) == ["boat.md"]
    assert answer.trace.degraded == {"vector": "no vector is near enough; found by words"}
    assert without_vectors.made == ["vsearch", "search"]


def test_what_is_too_far_away_is_not_near(home: Home) -> None:
    """By meaning something is always nearest; below the floor it is not shown."""
    request = read_request("boat harbour", now_ms=START_MS)

    near, nearest = (
        home.retrieve(request, Route.SEMANTIC),
        vsearch(retrieval_stores(home.vault), home.embedder)(request),
    )

    assert 0 < len(near.results) < len(nearest.results) == len(NOTES)
    assert all(result.score >= LEAST_COSINE for result in near.results)


# -- find_similar -------------------------------------------------------------------------------------


def test_similar_documents_are_those_that_say_the_like(home: Home) -> None:
    """The nearest first, the document itself never."""
    stores, note = retrieval_stores(home.vault), home.at("tea.md")
    found = find_similar(note, now_ms=START_MS, stores=stores, embedder=home.embedder)

    assert found.results[0].document.path == "green.md"
    assert "tea.md" not in [result.document.path for result in found.results]
    assert all(len(result.snippet().text) <= 200 for result in found.results)


# -- timeline -----------------------------------------------------------------------------------------


def test_the_timeline_of_a_document(home: Home) -> None:
    """What was changed before and after it, oldest first, and in which session it was changed itself."""
    focus = home.at("green.md")
    home.vault.sessions.save(Session("s1", focus.modified_at, focus.modified_at, summary="Tea time."))

    found = wired(home.vault).timeline(focus)

    assert [entry.file for entry in found.before] == ["notes/tea.md"]
    assert (found.focus.id, found.focus.docid) == (focus.id, f"#{focus.hash[:6]}")
    assert [entry.file for entry in found.after] == ["notes/bike.md", "notes/boat.md"]
    assert (found.total_in_range, found.session_summary) == (4, "Tea time.")
