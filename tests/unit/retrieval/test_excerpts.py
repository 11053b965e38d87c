from __future__ import annotations

from datetime import UTC

import pytest

from clawmem.domain.retrieval.excerpts import (
    entry_of,
    heading_above,
    sections,
)
from clawmem.domain.text.dates import temporal_range

BODY = (
    "# Log 2025\nstart\n## 2025-05-02\none\n```\n## 2025-05-03\n```\n### Notes\ntwo\n## 3 May 2025\nthree\n"
)
NOW_MS = 1_760_000_000_000  # October 2025


def text(body: str, place: tuple[int, int] | None) -> str:
    return body[slice(*place)] if place else ""


def test_sections_hold_their_subsections() -> None:
    """A section ends before the next heading of its level, and a fence holds no heading."""
    assert [section.heading.label for section in sections(BODY)] == [
        "Log 2025",
        "2025-05-02",
        "Notes",
        "3 May 2025",
    ]
    assert heading_above(BODY, 8) == "Log 2025 › 2025-05-02 › Notes"
    assert heading_above("text", 0) == ""


@pytest.mark.parametrize(
    ("question", "expected"),
    [("on 2025-05-02", "one"), ("on 3 May 2025", "three"), ("in May 2025", "one"), ("in 2024", "")],
)
def test_entry_of_a_time(question: str, expected: str) -> None:
    """The first section dated within the time; a wider one does not count."""
    named = temporal_range(question, now_ms=NOW_MS)
    assert named is not None

    assert text(BODY, entry_of(BODY, named, now_ms=NOW_MS, zone=UTC)).split("\n")[0] == expected
