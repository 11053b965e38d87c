"""Answers that are rows of tables: found by the names of their columns, shown with the header, cited by their line."""

from __future__ import annotations

import pytest
from command_line import Invoke, ask_json
from command_process import surfaced

HEADER = "| Room | Seats | Floor |\n|------|-------|-------|\n"
ROOMS = (
    "# Rooms of the new office\n\nWhere we meet.\n\n"
    f"{HEADER}| Falcon | 14 | 3 |\n| Heron | 6 | 1 |\n| Owl | 22 | 2 |\n\nBook at the desk.\n"
)
ROW = f"{HEADER}| Falcon | 14 | 3 |"
NOTES = {
    "rooms.md": ROOMS,
    "diary.md": "# Tuesday\n\nThe falcon on the tower has two chicks.\n\nNew seats for the car.\n",
    "birds.md": "# Birds\n\nA heron stood at the pond. An owl was heard.\n",
}


@pytest.mark.parametrize("unit", ["document", "line"])
@pytest.mark.parametrize("verb", ["search", "query"])
def test_the_row_is_found_by_the_name_of_its_column(indexed: Invoke, verb: str, unit: str) -> None:
    """Shown below the header of the table, cited by its own line, with no other row."""
    asked = "how many seats does the Falcon room have"
    found = ask_json(indexed, verb, asked, "--unit", unit)["results"][0]

    assert (found["path"], found["start_line"], found["end_line"]) == ("rooms.md", 7, 7)
    assert found["snippet"] == ROW


def test_a_prompt_carries_the_row_with_the_header(indexed: Invoke, environ: dict[str, str]) -> None:
    """Several rows stand together below one header."""
    block = surfaced("how many seats does the Falcon room have", environ)
    several = surfaced("how many seats do the Falcon room and the Owl room have", environ)

    assert ROW in block
    assert block.count(HEADER) == several.count(HEADER) == 1
    assert ROW in several
    assert "| Owl | 22 | 2 |" in several


def test_a_match_in_the_header_shows_the_table(indexed: Invoke) -> None:
    """The header is a line of its own, and each row is found by it."""
    found = ask_json(indexed, "search", "Floor", "--unit", "line")["results"]

    assert {5, 7, 8, 9} <= {one["start_line"] for one in found}
    assert [one["snippet"] for one in found if one["start_line"] == 5] == [HEADER.rstrip()]
