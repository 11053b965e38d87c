from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clawmem.domain.documents.fragments import (
    MAX_LINE,
    MAX_OVERLAP,
    MAX_PASSAGE,
    MAX_STRUCTURE,
    MAX_STRUCTURES,
    fragment,
)
from clawmem.domain.documents.markdown import BlockKind, Markdown, is_machine_text
from clawmem.ports.records import Fragment, FragmentKind, embedding_text

SENTENCE = "The sessions move to one database before the end of the month. "
LIMITS = {
    FragmentKind.LINE: MAX_LINE,
    FragmentKind.SECTION: MAX_STRUCTURE,
    FragmentKind.LIST: MAX_STRUCTURE,
    FragmentKind.CODE: MAX_STRUCTURE,
}

_TEXT = st.sampled_from(["word ", "x", "a. ", "東京。", "`", "\t"])
_LONG = st.builds(lambda part, times: part * times, _TEXT, st.integers(1, 1200))
_LINE = st.sampled_from(
    [
        "",
        "",
        " ",
        "# One",
        "## Two",
        "### Three",
        "#### Four",
        "- item",
        "**Ann:** hi",
        "```",
        "~~~",
        SENTENCE,
    ]
)
BODIES = st.lists(_LINE | _LONG | st.text("ab #*-.\t", max_size=30), max_size=25).map("\n".join)


def of(kind: FragmentKind, parts: list[Fragment]) -> list[Fragment]:
    return [part for part in parts if part.kind is kind]


def split(body: str, kind: FragmentKind, title: str = "T") -> list[tuple[int, int]]:
    return [(part.start, part.end) for part in of(kind, fragment(Markdown(body), title=title))]


def numbered(body: str, first_line: int = 1) -> Iterator[tuple[int, int, str]]:
    start = 0
    for number, text in enumerate(body.split("\n"), first_line):
        yield number, start, text
        start += len(text) + 1


# What holds for every document


@given(BODIES)
@example("")
@example("\n\n")
def test_fragments_are_numbered_and_the_first_is_the_whole(body: str) -> None:
    """From 0 without a gap; number 0 is the document from end to end, and no other is."""
    parts = fragment(Markdown(body), title="T", front_matter=[("people", "Ann and Bob")])

    assert [part.seq for part in parts] == list(range(len(parts)))
    assert (parts[0].kind, parts[0].start, parts[0].end) == (FragmentKind.DOCUMENT, 0, len(body))
    assert len(of(FragmentKind.DOCUMENT, parts)) == 1


@given(BODIES)
def test_a_text_is_the_body_between_its_offsets(body: str) -> None:
    """Except front matter, which lies outside of the body and is shown with the first text of it."""
    for part in fragment(Markdown(body), title="T", front_matter=[("people", "Ann and Bob")]):
        if part.kind is FragmentKind.FRONT_MATTER:
            assert part.text == "people: Ann and Bob"
            assert 0 <= part.start <= part.end <= len(body)
        else:
            assert part.text == body[part.start : part.end]


@given(BODIES)
@example("\n\na\n\n")
def test_every_character_lies_in_a_passage(body: str) -> None:
    """Passages follow each other without a gap from the beginning to the end, blank lines and all."""
    places = split(body, FragmentKind.PASSAGE)

    assert places[0][0] == 0
    assert places[-1][1] == len(body)
    assert all(after[0] <= before[1] for before, after in pairwise(places))


@given(BODIES)
@example("x" * 1000 + "\n\n" + "y" * 300 + "\n\n" + "z" * 1500)
def test_every_passage_says_something_new(body: str) -> None:
    """Each begins and ends later than the one before: none lies inside of another."""
    places = split(body, FragmentKind.PASSAGE)

    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(places))


@given(BODIES)
@example("\n" * 2000 + "a" + "\n" * 2000)
def test_a_passage_is_at_most_1600_characters_of_blocks(body: str) -> None:
    """From its first block to its last; only lines without words, behind it or before the very first, come on top."""
    for part in of(FragmentKind.PASSAGE, fragment(Markdown(body), title="T")):
        assert len(part.text.strip("#*-. \t\n")) <= MAX_PASSAGE


@given(BODIES)
def test_no_piece_of_a_line_or_a_structure_is_longer_than_its_limit(body: str) -> None:
    """What is longer became several."""
    parts = fragment(Markdown(body), title="T")

    assert all(len(part.text) <= LIMITS[part.kind] for part in parts if part.kind in LIMITS)


@given(BODIES)
def test_lines_are_in_reading_order_and_numbered_without_a_gap(body: str) -> None:
    """The next line of the document is the next number: neighbours are found by counting."""
    lines = of(
        FragmentKind.LINE, fragment(Markdown(body), title="T", front_matter=[("people", "Ann and Bob")])
    )

    assert [line.seq - lines[0].seq for line in lines] == list(range(len(lines)))
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(lines))


@given(BODIES)
def test_nothing_is_lost_from_the_lines(body: str) -> None:
    """Every character of every block of its writer that is no heading lies in a line; so does a heading alone."""
    blocks = Markdown(body).blocks
    row = [block for block in blocks if not is_machine_text(body[block.start : block.end])]
    is_alone = len(row) == len(blocks)
    wanted = [block for block in row if block.kind is not BlockKind.HEADING] or row[: is_alone * len(row)]
    covered = {at for start, end in split(body, FragmentKind.LINE) for at in range(start, end)}

    assert covered >= {at for block in wanted for at in range(block.start, block.end)}


@given(BODIES, st.integers(1, 500))
def test_line_numbers_are_those_of_the_file(body: str, first_line: int) -> None:
    """A fragment's first and last line hold its first and last character, counted from the given line."""
    rows = list(numbered(body, first_line))
    for part in fragment(Markdown(body, first_line), title="T"):
        last = max(part.start, part.end - 1)
        homes = [
            n for n, start, text in rows for at in (part.start, last) if start <= at <= start + len(text)
        ]

        assert [part.start_line, part.end_line] == homes


@given(BODIES)
def test_sections_do_not_overlap(body: str) -> None:
    """From one heading to the next, so that no text is in two; pieces of a long one share their seam only."""
    sections = of(FragmentKind.SECTION, fragment(Markdown(body), title="T"))
    heads = [b.start for b in Markdown(body).blocks if b.kind is BlockKind.HEADING and b.level <= 3]

    for part in sections:
        assert not [head for head in heads if part.start < head < part.end]


# Passages


@pytest.mark.parametrize(("last", "passages"), [(MAX_PASSAGE - 1002, 1), (MAX_PASSAGE - 1001, 2)])
def test_neighbours_are_packed_to_exactly_the_limit(last: int, passages: int) -> None:
    """Blank lines between two blocks count."""
    assert len(split("x" * 1000 + "\n\n" + "y" * last, FragmentKind.PASSAGE)) == passages


@pytest.mark.parametrize(("size", "repeated"), [(MAX_OVERLAP, True), (MAX_OVERLAP + 1, False)])
def test_a_small_block_is_repeated_in_the_next_passage(size: int, repeated: bool) -> None:
    """Up to four hundred characters, so that a question and its answer are found together."""
    body = "x" * 1000 + "\n\n" + "y" * size + "\n\n" + "z" * 1000

    _, second = split(body, FragmentKind.PASSAGE)

    assert (second[0] == 1002) is repeated


# Sections, lists, code


@pytest.mark.parametrize("more", [0, 1])
def test_structures_have_a_limit(more: int) -> None:
    """Five hundred sections have a fragment each; what lies behind them is still in lines and passages."""
    count = MAX_STRUCTURES + more
    body = "".join(f"# Section {n}\n\n{'x' * 60} {n}\n\n" for n in range(count))

    parts = fragment(Markdown(body), title="T")

    assert len(of(FragmentKind.SECTION, parts)) == MAX_STRUCTURES
    assert len(of(FragmentKind.LINE, parts)) == count
    assert of(FragmentKind.PASSAGE, parts)[-1].end == len(body)


# Lines


@pytest.mark.parametrize(("size", "pieces"), [(MAX_LINE, 1), (MAX_LINE + 1, 2)])
def test_a_line_stays_whole_to_its_limit(size: int, pieces: int) -> None:
    """A chat turn is one thought, however long; a file without line breaks is many."""
    assert len(split("x" * size, FragmentKind.LINE)) == pieces


# Front matter and context


def test_what_is_embedded_is_the_context_above_the_text() -> None:
    """Stripped, and the text alone where there is no context."""
    _, passage, line = fragment(Markdown("\n\nText.\n\n"), title="T", date="2026-04-02")

    assert embedding_text(passage.context, passage.text) == "T (2026-04-02)\n\n\nText."
    assert embedding_text(line.context, line.text) == "Text."


# Size


@pytest.mark.parametrize("part", ["x", "word ", ".", ".'", "`", "#", "東"])
def test_two_megabytes_on_one_line(part: str) -> None:
    """A file without line breaks is split in less than two seconds, and not a character is lost."""
    body = part * (2_000_000 // len(part))

    begun = time.process_time()
    parts = fragment(Markdown(body), title="T")
    assert (time.process_time() - begun) < 2
    assert of(FragmentKind.PASSAGE, parts)[-1].end == of(FragmentKind.LINE, parts)[-1].end == len(body)
