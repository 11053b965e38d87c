"""Tables of Markdown: header, rows, and where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.markdown import BlockKind, Markdown, is_delimiter
from clawmem.ports.records import FragmentKind

TABLE = "Our rooms:\n| Room | Seats |\n|:-----|------:|\n| Falcon | 14 |\n| Owl | 22 |\n\nBook at the desk."
PLACES = st.lists(
    st.sampled_from(["| a | b |", "|---|---|", "text", "", "a | b", "- item", "# H"]), max_size=12
)


@pytest.mark.parametrize("line", ["---", "", "| a | b |", "|", "| --- | a |", "||"])
def test_no_row_of_dashes(line: str) -> None:
    """A rule without a bar is no part of a table, nor are cells of text."""
    assert not is_delimiter(line)


def test_every_row_is_a_block_with_the_names_of_its_columns() -> None:
    """The text above, the header and the text below are blocks of their own, with true line numbers."""
    found = [(b.kind, b.start_line, b.end_line, b.label) for b in Markdown(TABLE, first_line=5).blocks]

    assert found == [
        (BlockKind.PARAGRAPH, 5, 5, ""),
        (BlockKind.TABLE, 6, 7, ""),
        (BlockKind.ROW, 8, 8, "Room Seats"),
        (BlockKind.ROW, 9, 9, "Room Seats"),
        (BlockKind.PARAGRAPH, 11, 11, ""),
    ]


@given(PLACES)
def test_every_line_of_text_lies_in_one_block(lines: list[str]) -> None:
    """In order, whatever looks like a table."""
    body = "\n".join(lines)
    covered = [n for block in Markdown(body).blocks for n in range(block.start_line, block.end_line + 1)]

    assert covered == [n for n, line in enumerate(lines, 1) if line.strip()]
    for block in Markdown(body).blocks:
        assert body[block.start : block.end] == "\n".join(lines[block.start_line - 1 : block.end_line])


def test_a_row_is_a_line_that_knows_its_columns() -> None:
    """They are its retrieval context; the line is the row as it stands in the file."""
    rows = [
        part
        for part in fragment(Markdown(TABLE), title="Rooms")
        if part.kind is FragmentKind.LINE and part.context
    ]

    assert [(row.text, row.start_line, row.context) for row in rows] == [
        ("| Falcon | 14 |", 4, "Room Seats"),
        ("| Owl | 22 |", 5, "Room Seats"),
    ]
