from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.security.fingerprint import echo_share, fingerprint

FACT = "We chose apsw over the sqlite3 module, because many interpreters cannot load extensions."
TEXT = st.lists(st.sampled_from("a b c d e f g h i j".split()), max_size=30).map(" ".join)


def test_a_quotation_in_a_longer_answer_counts_by_its_share() -> None:
    """An answer that says as much again of its own is no echo any more."""
    own = "Today we found that the wheel is missing for the old machine in the cellar, so it gets rebuilt there."

    assert 0.3 < echo_share(f"{FACT} {own}", fingerprint(FACT)) < 0.5


@given(TEXT, TEXT, TEXT)
def test_the_share_never_falls_when_more_was_injected(text: str, one: str, other: str) -> None:
    """What is known stays known."""
    share = echo_share(text, fingerprint(one))

    assert 0 <= share <= echo_share(text, fingerprint(one) | fingerprint(other)) <= 1
