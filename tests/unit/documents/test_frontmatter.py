from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.frontmatter import FrontMatter, facts, split

LINES = st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])))
LINE_END = st.sampled_from(["\n", "\r\n"])
YAML_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.dates()
    | st.datetimes()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(LINES, LINES, LINE_END)
def test_the_body_is_kept_to_the_letter(block: list[str], lines: list[str], end: str) -> None:
    """Whatever follows the block is the body, and its line is where an editor finds it."""
    block = [line for line in block if line not in ("---", "...")]
    body = end.join(lines)
    text = "".join(line + end for line in block)
    source = f"---{end}{text}---{end}{body}"

    found = split(source)

    assert found == FrontMatter(text, body, len(block) + 3)
    assert end.join(source.split(end)[found.body_line - 1 :]) == body


@given(st.text())
def test_every_source_ends_with_its_body(source: str) -> None:
    """Nothing is made up, and body_line counts the line ends left out."""
    found = split(source)
    before = source[: len(source) - len(found.body)]

    assert source.endswith(found.body)
    assert found.body_line == before.count("\n") + 1 or (not found.body and not source.endswith("\n"))


def test_aliases_that_multiply_stay_small() -> None:
    """Nine lines that stand for a billion values cost no more than a thousand."""
    value: object = "lol"
    for _ in range(9):
        value = [value] * 10

    assert len(facts({"x": value}).extra[0][1]) <= 5 * 1000


@given(
    st.dictionaries(
        st.sampled_from(["title", "date", "tags", "domain", "participants", "other"]), YAML_VALUES
    )
)
def test_reading_never_raises(raw: dict[str, object]) -> None:
    """Any parsed YAML gives facts with one printable pair a key."""
    assert [key for key, _ in facts(raw).extra] == list(raw)
