"""Questions as of a day: what was written later is not there, has superseded nothing, and ages count from that day."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from notes_vault import NotesVault, paths
from vault_stores import WAYS, one_way_in, ways_to_ask

from clawmem.adapters.memory.clock import START_MS
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import read_request

ASKED = "where do login sessions live"
BETWEEN = "2023-06-30"  # after the first decision, before the second
NOTES = {
    "redis.md": "---\ndate: 2023-05-02\n---\n# Sessions in Redis\n\nLogin sessions live in Redis.\n",
    "postgres.md": "---\ndate: 2023-09-20\nsupersedes: redis.md\n---\n# Postgres\n\nLogin sessions live in Postgres.\n",
    "sqlite.md": "---\ndate: 2023-06-01\nsupersedes: postgres.md\n---\n# SQLite\n\nA file is enough.\n",
    "old-scrap.md": "Login sessions live in a cookie.\n",
    "new-scrap.md": "Login sessions live in a file.\n",
}
CHANGED_DAYS_AGO = {"old-scrap.md": 400, "new-scrap.md": 3}


class Home(NotesVault):
    """Two versions of a decision, a third note that says too early what supersedes the second, two without a date."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        for path, text in NOTES.items():
            self.write(path, text, hours_ago=24 * CHANGED_DAYS_AGO.get(path, 1))
        self.take_in({})
        self.ways = ways_to_ask(self.vault, self.embedder)
        self.retrieve = one_way_in(self.vault, self.ways)

    def ask(self, way: str = "query", *, as_of: str = "", until: str = "", question: str = ASKED) -> Answer:
        return self.ways[way](read_request(question, now_ms=START_MS, as_of=as_of, until=until))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    found = Home(tmp_path_factory.mktemp("notes"))
    yield found
    found.vault.close()


@pytest.mark.parametrize("way", WAYS)
def test_the_decision_of_then_answers(home: Home, way: str) -> None:
    """What was written later is there on no way, and a note of before the day is."""
    then, now = paths(home.ask(way, as_of=BETWEEN)), paths(home.ask(way))

    assert {"postgres.md", "new-scrap.md"} <= set(now)
    assert {"redis.md", "old-scrap.md"} <= set(then) <= {"redis.md", "old-scrap.md", "sqlite.md"}


def test_what_came_later_has_superseded_nothing(home: Home) -> None:
    """The first decision held then: not even through a later note does anything stand in its place."""
    then = paths(home.ask(as_of=BETWEEN))

    assert "sqlite.md" not in then[: then.index("redis.md")]
    now = paths(home.ask())
    assert now.index("sqlite.md") < now.index("postgres.md") < now.index("redis.md")


def test_a_diary_of_several_days(tmp_path: Path) -> None:
    """Its days up to then are there, and no later one."""
    home = Home(tmp_path)
    home.take_in(
        {
            "diary.md": "## 2023-06-04\n\nThe gate code is 4711.\n\n## 2023-07-02\n\nIt is 8860, the gate code.\n"
        }
    )
    [first, *_] = home.ask(question="which is the gate code", as_of=BETWEEN).results

    assert (first.document.path, first.snippet().text) == ("diary.md", "The gate code is 4711.")
    home.vault.close()
