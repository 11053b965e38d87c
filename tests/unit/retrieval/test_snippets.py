from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.snippets import snippet

bodies = st.text("ab é\n", max_size=200)
terms = st.lists(st.sampled_from(["a", "b", "ab", "é", "zz", ""]), max_size=4)


@given(bodies, terms, terms, st.integers(4, 60), st.integers(1, 9), st.data())
def test_text_stands_where_it_says(
    body: str, query: list[str], intent: list[str], max_length: int, first_line: int, data: st.DataObject
) -> None:
    """The text before an ellipsis is the run of lines its numbers name, or a part of that run when it was cut."""
    start = data.draw(st.integers(0, 250))
    found = data.draw(st.none() | st.just((start, start + 20)))

    shown = snippet(
        body, query, intent_terms=intent, found=found, max_length=max_length, first_line=first_line
    )

    lines = body.removesuffix("\n").split("\n")
    at = shown.start_line - first_line
    run = "\n".join(lines[at : at + shown.line_count])
    assert len(shown.text) <= max_length
    text, *others = shown.text.split("\n…\n")
    assert text.strip() == run.strip() or ("..." in text and text.strip(".") in run)
    assert all(other in body for other in others)
    assert shown.end_line == shown.start_line + shown.line_count - 1
    assert first_line <= shown.start_line <= shown.end_line < first_line + len(lines)


@given(bodies, st.sampled_from(["a", "b", "é"]))
def test_match_is_shown(body: str, term: str) -> None:
    """A term that stands in the body stands in the snippet when nothing had to be cut."""
    assert (term in snippet(body, [term], max_length=10_000).text) == (term in body)


@given(bodies, st.sampled_from(["a", "b", "é"]))
def test_the_first_line_shown_holds_the_match(body: str, term: str) -> None:
    """So the place that is cited is the place of the match."""
    assert (term in snippet(body, [term], max_length=10_000).text.split("\n")[0]) == (term in body)


@given(bodies, terms, st.integers(0, 150), st.integers(1, 60))
def test_a_clipped_snippet_lies_in_its_fragment(body: str, query: list[str], start: int, length: int) -> None:
    """No line behind the fragment is shown, whatever follows it."""
    start = min(start, len(body))
    end = min(start + length, len(body))
    shown = snippet(body, query, within=(start, end))

    if body[start:end].strip():
        assert body.count("\n", 0, start) < shown.start_line
        assert shown.end_line <= body.count("\n", 0, end) + 1
