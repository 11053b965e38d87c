from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.expansion import LIMITS, VariantKind, read_expansion

lines = st.lists(
    st.tuples(
        st.sampled_from(["lex", "VEC", "hyde", "bm25", ""]),
        st.sampled_from([": ", ":", " ", "::"]),
        st.text(),
    ),
    max_size=20,
)


@given(st.text(max_size=300), st.text(max_size=50))
def test_nothing_that_is_written_raises(answer: str, query: str) -> None:
    """Whatever a model writes to whatever question is read."""
    read_expansion(answer, query)


@given(lines)
def test_limits_and_kinds_hold(written: list[tuple[str, str, str]]) -> None:
    """Of each kind there are as many as are allowed at most, none of them blank, and none twice."""
    variants = read_expansion("\n".join(map("".join, written)), "kettle a e i")

    counts = Counter(variant.kind for variant in variants)
    assert all(counts[kind] <= LIMITS[kind] for kind in VariantKind)
    assert len(set(variants)) == len(variants)
    assert all(variant.text.strip() for variant in variants)


def test_a_thought_that_never_ends_costs_no_time() -> None:
    """An answer of a million signs is read by its beginning."""
    assert read_expansion("<think>" + "lex" * 1_000_000, "kettle") == ()
