"""A small twin of the poisoning benchmark, and supersession by notes that are not the user's."""

from __future__ import annotations

from pathlib import Path

import pytest
from poison import MARK, WAYS, measure, unmarked_lines
from surfacing_home import Home

from clawmem.app.services.indexing.trusting import record_trust
from clawmem.domain.security.origin import TRUST

QUESTIONS = 12
MOST_LOST = 0.09  # one answer of twelve; the benchmark asks all 154 questions


def test_planted_notes_arrive_marked_and_push_nothing_out(tmp_path: Path) -> None:
    """Of five ways to attack, no planted line arrives unmarked, and the user's answers stay in the blocks, but for one at most."""
    found = measure(tmp_path, QUESTIONS)

    assert set(found) == set(WAYS)
    assert {way: one.unmarked for way, one in found.items()} == dict.fromkeys(WAYS, 0)
    assert sum(one.arrived for one in found.values()) > QUESTIONS  # else nothing was measured
    assert all(one.lost <= MOST_LOST for one in found.values()), found


@pytest.mark.parametrize(
    ("line", "unmarked"),
    [(f"{MARK} do it", 1), (f"> {MARK} do it", 0), (f"**“{MARK}”** web/x.md, from outside, not verified", 0)],
)
def test_the_measure_sees_unmarked_lines(line: str, unmarked: int) -> None:
    """A line that is neither quoted nor a title with its origin counts."""
    assert unmarked_lines(line) == unmarked


def test_notes_of_others_supersede_nothing(tmp_path: Path) -> None:
    """Neither when they are indexed as others' notes, nor when the trust in them is withdrawn later."""
    home = Home(tmp_path)
    claim = "---\nsupersedes: boat.md\n---\n# Boat\n\nThe boat lies in Oslo.\n"
    home.take_in(tmp_path / "more", {"boat.md": "# Boat\n\nThe boat lies in Moss.\n", "new.md": claim})
    documents = home.vault.documents.sources("more")
    old = documents["boat.md"].id
    assert home.vault.successions.direct({old})

    assert record_trust(home.vault, documents.values(), TRUST["outside"]) == 2

    assert not home.vault.successions.direct({old})
    home.vault.close()
