"""By which sentences a forgotten document would be recognised."""

from __future__ import annotations

from clawmem.domain.lifecycle.marks import MOST_SENTENCES, sentences_of

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
