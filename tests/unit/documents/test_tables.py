"""Tables of Markdown: header, rows, and where they stand."""

from __future__ import annotations

import pytest

from clawmem.domain.documents.markdown import BlockKind, Markdown, is_delimiter

TABLE = "Our rooms:\n| Room | Seats |\n|:-----|------:|\n| Falcon | 14 |\n| Owl | 22 |\n\nBook at the desk."


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
