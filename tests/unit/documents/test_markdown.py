from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.markdown import Block, BlockKind, Markdown

LINES = [
    "",
    " ",
    "text",
    "  indented",
    "# Heading",
    "## Sub ##",
    "###",
    "#none",
    "- item",
    "12. item",
    "**Ann:** hello",
    "**Bob**: hello",
    "user: hello",
    "Assistant:",
    "```",
    "```python",
    "````",
    "~~~",
    "```so``` it is",
    "    ```",
    "| a | b |",
    "|---|---|",
    "a | b",
]
DOCUMENTS = st.lists(st.sampled_from(LINES) | st.text("ab`~#-*: \t", max_size=8), max_size=14).map("\n".join)


def shape(body: str) -> list[tuple[str, int, int, str]]:
    return [(b.kind.value, b.start_line, b.end_line, b.label) for b in Markdown(body).blocks]


def test_a_row_of_blocks() -> None:
    """Each kind once, in order, with lines and labels."""
    body = "# Plan\n\nOne\ntwo\n- a\n  more\n- b\n```sql\nx\n\ny\n```\n**Ann:** hi\nthere\n"

    assert shape(body) == [
        ("heading", 1, 1, "Plan"),
        ("paragraph", 3, 4, ""),
        ("item", 5, 6, ""),
        ("item", 7, 7, ""),
        ("code", 8, 12, "sql"),
        ("turn", 13, 14, "Ann"),
    ]


def test_places_of_a_block() -> None:
    """Lines count from the given one; offsets cut out the lines without the last line break."""
    body = "one\n\ntwo\nthree\n"

    assert Markdown(body, 7).blocks == [
        Block(BlockKind.PARAGRAPH, 7, 7, 0, 3),
        Block(BlockKind.PARAGRAPH, 9, 10, 5, 14),
    ]


@given(DOCUMENTS, st.integers(1, 99))
def test_every_line_lies_in_one_block(body: str, first_line: int) -> None:
    """Blocks are in order and apart; lines with a word lie in exactly one."""
    found = Markdown(body, first_line).blocks
    rows = list(enumerate(body.split("\n"), first_line))

    assert all(a.end_line < b.start_line and a.end < b.start for a, b in pairwise(found))
    for number, text in rows:
        homes = [block.kind for block in found if block.start_line <= number <= block.end_line]
        assert len(homes) == 1 if re.search(r"\w", text) else len(homes) <= 1


@given(DOCUMENTS, st.integers(1, 99))
def test_offsets_and_lines_say_the_same(body: str, first_line: int) -> None:
    """The characters from start to end are the lines from first to last."""
    rows = body.split("\n")

    for block in Markdown(body, first_line).blocks:
        own = rows[block.start_line - first_line : block.end_line - first_line + 1]
        assert body[block.start : block.end] == "\n".join(own)
