"""Which forgotten bodies are recognised, and which older texts are the same note."""

from __future__ import annotations

import pytest

from clawmem.domain.lifecycle.forgotten import LEAST_CHARACTERS, is_earlier_version, is_recognisable


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", False),
        ("\n" * 99, False),
        ("# Today\n\n- [ ] \n", False),
        ("x" * (LEAST_CHARACTERS - 1), False),
        ("x" * LEAST_CHARACTERS, True),
        (f"a{' ' * 60}b", False),
    ],
)
def test_short_bodies_are_not_recognised(body: str, expected: bool) -> None:
    """Forty characters, of which a run of blanks is one."""
    assert is_recognisable(body) is expected


def test_an_earlier_version_shares_half_of_its_sentences() -> None:
    """Headings and short lines are no sentences; a text without any is no version of another."""
    newer = "# Boat\n\nThe boat lies in berth seven.\n\nIt needs a new coat.\n\nThe mast is cracked too.\n"

    assert is_earlier_version("# Boat\n\nThe boat lies in berth seven.\n\nIt needs a new sail.\n", newer)
    assert not is_earlier_version(
        "The boat lies in berth nine. It needs a new coat. The hull leaks a lot.", newer
    )
    assert not is_earlier_version("# Boat\n", newer)
