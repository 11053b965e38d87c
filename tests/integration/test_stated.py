"""Notes about the topic of a prompt that do not state what it asks for: at most two, and the block says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from surfacing_home import Home, places

from clawmem.domain.surfacing.block import ONLY_TOPIC

LOFT = {
    "loft.md": "# Loft\n\nThe loft is on the third floor of the old brewery.\n",
    "light.md": "# Light\n\nThe loft has a rail with four spots.\n",
    "heater.md": "# Heater\n\nThe heater of the loft takes an hour to warm it, with 12 kW.\n",
    "move.md": "# Move\n\nWe carried the easels up to the loft on 14 May.\n",
    "walls.md": "# Walls\n\nThe walls of the loft are white, two coats of paint.\n",
    "class.md": "# Class\n\nThe drawing class in the loft costs 95 euros.\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = Home(tmp_path_factory.mktemp("loft"))
    made.take_in(made.folder / "loft", LOFT)
    yield made
    made.vault.close()


def test_notes_that_share_one_word_beside_a_note_with_all(home: Home) -> None:
    """Of the other notes about the loft two are shown, although the question asks for no value."""
    shown = places(home.ask("who has the easels in the loft"))

    assert "move.md" in shown[0]
    assert len(shown) == 2


def test_a_question_for_no_kind_of_value(home: Home) -> None:
    """Every note about the topic may answer."""
    said = home.ask("what do we know about the loft")

    assert len(places(said)) >= len(LOFT)
    assert ONLY_TOPIC not in said.block
