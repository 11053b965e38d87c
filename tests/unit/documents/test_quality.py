from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.quality import quality_score


def bare(body: str) -> float:
    return quality_score(body, has_tags=False, has_domain=False, has_workstream=False)


@given(st.text(), st.booleans(), st.booleans(), st.booleans())
def test_a_score_lies_between_zero_and_one(body: str, tags: bool, domain: bool, stream: bool) -> None:
    """For any body, and declared facts never lower it."""
    score = quality_score(body, has_tags=tags, has_domain=domain, has_workstream=stream)

    assert 0 <= bare(body) <= score <= 1
