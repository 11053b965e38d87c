"""By which sentences a forgotten document would be recognised."""

from __future__ import annotations

import pytest

from clawmem.domain.lifecycle.marks import (
    LEAST_CHARACTERS,
    MOST_SENTENCES,
    is_earlier_version,
    is_recognisable,
    sentences_of,
)

CITED = "_clawmem/agent/observations/2026-05-01-0f3a2b1c-decision-9c1e77aa0b12.md"


def test_a_cited_place_is_no_sentence() -> None:
    """The place of another document stays when this one is forgotten; a line with more than a place counts."""
    text = f"The export is slow today.\n\nConcluded from:\n\n- {CITED}\n- see {CITED}\n"

    assert sentences_of(text, {CITED}) == ["The export is slow today.", f"- see {CITED}"]
    assert f"- {CITED}" in sentences_of(text)


def test_the_first_twenty() -> None:
    """Places do not count among them."""
    lines = [f"This is line number {number}" for number in range(MOST_SENTENCES + 1)]

    assert sentences_of("\n".join([f"- {CITED}", *lines]), {CITED}) == lines[:MOST_SENTENCES]


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
