from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.quality import quality_score

PLAIN = "x" * 50  # long enough for no malus, short enough for no bonus


def bare(body: str) -> float:
    return quality_score(body, has_tags=False, has_domain=False, has_workstream=False)


@pytest.mark.parametrize(
    ("length", "score"), [(0, 0.2), (49, 0.2), (50, 0.3), (200, 0.3), (201, 0.4), (500, 0.4), (501, 0.5)]
)
def test_length_counts_in_steps(length: int, score: float) -> None:
    """Exactly at a limit nothing changes yet."""
    assert bare("x" * length) == score


@pytest.mark.parametrize(
    ("line", "score"),
    [
        ("## Heading", 0.4),
        ("# Heading", 0.3),
        ("### Heading", 0.3),
        (" ## Heading", 0.3),
        ("- item", 0.35),
        ("  * item", 0.35),
        ("-item", 0.3),
        ("+ item", 0.3),
        ("We Decided to wait", 0.45),
        ("we decide\nto wait", 0.45),
        ("we chose it", 0.45),
        ("we will use it", 0.45),
        ("switching to it", 0.45),
        ("going  with it", 0.45),
        ("selected, adopted", 0.45),
        ("undecided tomorrow", 0.3),
        ("preselected", 0.3),
        ("a FIX", 0.4),
        ("fixed resolved corrected patched", 0.4),
        ("the root cause", 0.4),
        ("prefix debugging", 0.3),
        ("fixes", 0.3),
    ],
)
def test_each_trait_counts_once(line: str, score: float) -> None:
    """And only as a whole word, phrase or line start."""
    assert bare(f"{PLAIN}\n{line}") == score


@pytest.mark.parametrize(("declared", "score"), [(0, 0.3), (1, 0.35), (2, 0.4), (3, 0.45)])
def test_each_declared_fact_counts(declared: int, score: float) -> None:
    """Tags, domain and workstream alike."""
    flags = [at < declared for at in range(3)]

    assert quality_score(PLAIN, has_tags=flags[0], has_domain=flags[1], has_workstream=flags[2]) == score


def test_everything_together_is_one() -> None:
    """1.05 is clamped."""
    body = "## H\n- we chose the fix\n" + "x" * 500

    assert quality_score(body, has_tags=True, has_domain=True, has_workstream=True) == 1.0
    assert quality_score(body, has_tags=True, has_domain=True, has_workstream=False) == 1.0
    assert quality_score(body, has_tags=True, has_domain=False, has_workstream=False) == 0.95


@given(st.text(), st.booleans(), st.booleans(), st.booleans())
def test_a_score_lies_between_zero_and_one(body: str, tags: bool, domain: bool, stream: bool) -> None:
    """For any body, and declared facts never lower it."""
    score = quality_score(body, has_tags=tags, has_domain=domain, has_workstream=stream)

    assert 0 <= bare(body) <= score <= 1
