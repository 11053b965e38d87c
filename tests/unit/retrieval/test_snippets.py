from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.snippets import Snippet, single_line, snippet

LINES = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
BODY = "\n".join(LINES)

bodies = st.text("ab é\n", max_size=200)
terms = st.lists(st.sampled_from(["a", "b", "ab", "é", "zz", ""]), max_size=4)


@given(bodies, terms, terms, st.integers(4, 60), st.integers(1, 9), st.data())
def test_text_stands_where_it_says(
    body: str, query: list[str], intent: list[str], max_length: int, first_line: int, data: st.DataObject
) -> None:
    """The text is the run of lines its numbers name, or the beginning of that run when it was cut."""
    start = data.draw(st.integers(0, 250))
    around = data.draw(st.none() | st.just((start, start + 20)))

    shown = snippet(
        body, query, intent_terms=intent, around=around, max_length=max_length, first_line=first_line
    )

    lines = body.removesuffix("\n").split("\n")
    at = shown.start_line - first_line
    run = "\n".join(lines[at : at + shown.line_count])
    assert len(shown.text) <= max_length
    assert shown.text == run or (
        shown.text.endswith("...") and "\n".join(lines[at:]).startswith(shown.text[:-3])
    )
    assert shown.end_line == shown.start_line + shown.line_count - 1
    assert shown.before == shown.start_line - 1
    assert shown.before + shown.line_count + shown.after == first_line - 1 + len(lines)


@given(bodies, st.sampled_from(["a", "b", "é"]))
def test_match_is_shown(body: str, term: str) -> None:
    """A term that stands in the body stands in the snippet when nothing had to be cut."""
    shown = snippet(body, [term], max_length=10_000)

    assert (term in shown.text) == (term in body)


@given(bodies, st.sampled_from(["a", "b", "é"]))
def test_the_first_line_shown_holds_the_match(body: str, term: str) -> None:
    """So the place that is cited is the place of the match."""
    shown = snippet(body, [term], max_length=10_000)

    assert (term in shown.text.split("\n")[0]) == (term in body)


@given(bodies, terms, st.integers(0, 150), st.integers(1, 60))
def test_a_clipped_snippet_lies_in_its_fragment(body: str, query: list[str], start: int, length: int) -> None:
    """No line behind the fragment is shown, whatever follows it."""
    start = min(start, len(body))
    end = min(start + length, len(body))
    shown = snippet(body, query, around=(start, end), clipped=True)

    if body[start:end].strip():
        assert body.count("\n", 0, start) < shown.start_line
        assert shown.end_line <= body.count("\n", 0, end) + 1


def test_the_best_line_is_shown_with_two_lines_after_it() -> None:
    """The window begins with the best line."""
    assert snippet(BODY, ["charlie"]) == Snippet("charlie\ndelta\necho", 3, 3, before=2, after=1)


def test_header_reads_like_a_diff() -> None:
    """The header gives start, count, and what is left on both sides."""
    assert snippet(BODY, ["charlie"]).header == "@@ -3,3 @@ (2 before, 1 after)"


def test_window_ends_with_the_body() -> None:
    """At the end of the body the window is shorter; blank lines at its end are left out."""
    assert snippet(BODY, ["alpha"]).text == "alpha\nbravo\ncharlie"
    assert snippet(BODY, ["foxtrot"]).text == "foxtrot"
    assert snippet("a\n\n\nb", ["a"]) == Snippet("a", 1, 1, before=0, after=3)


def test_lines_are_those_of_the_file() -> None:
    """Behind five lines of frontmatter the body's third line is the file's eighth."""
    shown = snippet(BODY, ["charlie"], first_line=6)

    assert (shown.start_line, shown.before, shown.after) == (8, 7, 1)


def test_distinct_terms_count_and_the_first_of_equals_wins() -> None:
    """A term repeated in a line or in the query counts once; of equal lines the first is shown."""
    body = "red red\n-\n-\n-\nred blue\n-\n-\n-\nblue red"

    assert snippet(body, ["red", "red", "RED", "blue"]).start_line == 5


def test_intent_is_worth_three_tenths_of_a_term() -> None:
    """Three intent terms do not outweigh a query term, four do."""
    body = "one two three four\n-\n-\n-\npool"

    assert snippet(body, ["pool"], intent_terms=["one", "two", "three"]).start_line == 5
    assert snippet(body, ["pool"], intent_terms=["one", "two", "three", "four"]).start_line == 1


FAR = "needle\n" + "x\n" * 150 + "needle again\n" + "y\n" * 150  # the second needle starts at offset 307


def test_fragment_wins_over_an_earlier_match() -> None:
    """Matches outside of the fragment do not count while there is text inside."""
    assert snippet(FAR, ["needle"], around=(300, 310), max_length=50).start_line == 152


def test_long_fragment_is_searched_to_its_end() -> None:
    """A match at the end of a fragment longer than a snippet is found."""
    body = "word\n" * 400 + "needle\n"

    assert "needle" in snippet(body, ["needle"], around=(0, 2006), max_length=50).text


def test_fragment_without_a_term_shows_its_own_first_line() -> None:
    """A match by meaning alone shows the fragment from its beginning."""
    at = BODY.index("echo")

    assert snippet(BODY, ["zulu"], around=(at, at + 4)).start_line == LINES.index("echo") + 1


def test_a_blank_fragment_opens_the_whole_body() -> None:
    """Where the fragment's place holds only blanks, the best line of the body is shown."""
    body = "needle\n" + "\n" * 600 + "end"

    assert snippet(body, ["needle"], around=(300, 310), max_length=50).start_line == 1


def test_stale_offsets_are_tolerated() -> None:
    """Offsets past the end of a body that became shorter show its end."""
    assert snippet(BODY, ["alpha"], around=(9000, 9100)).text == "foxtrot"


def test_cut_leaves_room_for_the_dots() -> None:
    """At exactly max_length nothing is cut; one past, three dots end a text of max_length."""
    assert snippet("x" * 300, []).text == "x" * 300
    assert snippet("x" * 301, []).text == "x" * 297 + "..."


def test_cut_lines_are_not_counted_as_shown() -> None:
    """The count names the lines that can be read, and the rest counts as after."""
    shown = snippet("one\n" + "x" * 50 + "\nthree", ["one"], max_length=10)

    assert (shown.text, shown.line_count, shown.after) == ("one\nxxx...", 2, 1)


def test_a_single_line_is_shown_alone() -> None:
    """The best line, with its number in the file, and no line after it."""
    head = "title: Trip\nparticipants: Ann\ntags: [sea]\n"

    shown = single_line(head, ["ann"], max_length=300, first_line=2)

    assert shown == Snippet("participants: Ann", 3, 1, before=2, after=1)


def test_empty_body_has_an_empty_snippet() -> None:
    """There is nothing to show of nothing."""
    assert snippet("", ["a"]) == Snippet("", 1, 1, before=0, after=0)


def test_broken_arguments_are_refused() -> None:
    """No room for the dots, a line zero, and a range that runs backwards are mistakes of the caller."""
    with pytest.raises(ValueError, match="max_length"):
        snippet(BODY, [], max_length=3)
    with pytest.raises(ValueError, match="first_line"):
        snippet(BODY, [], first_line=0)
    with pytest.raises(ValueError, match="around"):
        snippet(BODY, [], around=(5, 4))
    with pytest.raises(ValueError, match="around"):
        snippet(BODY, [], around=(-1, 4))


@pytest.mark.parametrize(("before", "moved"), [(236, False), (237, True), (5000, True)])
def test_a_match_deep_in_a_long_line_is_shown(before: int, moved: bool) -> None:
    """Up to the cut less the lead the beginning is shown, one past it the part around the match."""
    body = "x" * (before - 1) + " needle " + "y" * 1000

    shown = snippet(body, ["needle"], max_length=300)

    assert "needle" in shown.text
    assert shown.text.startswith("...") is moved
    assert shown.text.endswith("...")
    assert len(shown.text) <= 300
    assert (shown.start_line, shown.line_count) == (1, 1)


def test_a_shown_end_has_no_ellipsis() -> None:
    """Where the part around the match reaches the end of the text, nothing follows it."""
    shown = snippet("word " * 200 + "needle", ["needle"], max_length=300)

    assert shown.text.startswith("...")
    assert shown.text.endswith("needle")
