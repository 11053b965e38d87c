from __future__ import annotations

from datetime import UTC

import pytest

from clawmem.domain.retrieval.excerpts import (
    asks_for_person,
    entry_of,
    heading_above,
    later_update,
    names_in,
    numbered_list,
    section_around,
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
    assert [one.heading.text for one in sections(BODY)] == ["Log 2025", "2025-05-02", "Notes", "3 May 2025"]
    assert text(BODY, section_around(BODY, BODY.index("one"))).endswith("### Notes\ntwo\n")
    assert text(BODY, section_around(BODY, BODY.index("two"))) == "two\n"
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


@pytest.mark.parametrize(
    ("later", "is_update"),
    [
        ("Update: oil now 7 euros", True),
        ("Oil is 7 euros since May", True),
        ("From September 2026 oil is 7 euros", True),
        ("From here oil is 7 miles", False),
        ("Oil is 7 euros", False),
        ("Salt is now 7 euros", False),
        ("Oil is now 5 euros", False),
        ("Oil: 7 jars were counted on the long shelf by the door, which is new", False),
    ],
)
def test_later_update(later: str, is_update: bool) -> None:
    """An update has its word near the subject, and another number."""
    body = f"Oil 5 euros\nmore\n{later}\n"

    assert text(body, later_update(body, (0, 12), ["price", "oil"])) == (later if is_update else "")


@pytest.mark.parametrize(
    ("later", "is_update"),
    [
        ("Correction on 28 August: Ahrens, for 15 200", True),
        ("- **Update**: 15 200 after all", True),
        ("They came down to 15 200, which is new", False),
    ],
)
def test_later_update_of_a_heading(later: str, is_update: bool) -> None:
    """A line without a word of the question gives a value of its heading; an update says at once that it is one."""
    body = f"| Rabe | 14 900 |\n| Lutz | 12 450 |\n\n{later}\n"

    assert text(body, later_update(body, (0, 17), ["kitchen", "cost"])) == (later if is_update else "")
    assert text(f"Firm\n{body}", later_update(f"Firm\n{body}", (0, 4), ["kitchen"])) == (
        later if is_update else ""
    )


@pytest.mark.parametrize(
    ("later", "is_update"),
    [
        ("Since May Ada Berg services the boiler.", True),
        ("Now the boiler is serviced by Ada.", True),
        ("Hans Moe now looks at the boiler twice.", False),
        ("The boiler is loud now.", False),
        ("Ada bought a boiler.", False),
    ],
)
def test_later_update_of_a_person(later: str, is_update: bool) -> None:
    """For a question that asks who, an update has another name."""
    body = f"The boiler is serviced by Hans Moe.\nmore\n{later}\n"

    assert text(body, later_update(body, (0, 38), ["services", "boiler"], names_in)) == (
        later if is_update else ""
    )


@pytest.mark.parametrize(
    ("heading", "is_update"), [("Update", True), ("Update of May", True), ("Parts", False)]
)
def test_a_person_below_a_heading_of_updates(heading: str, is_update: bool) -> None:
    """The line need not repeat the subject, which the note is about."""
    later = "Ada Berg does it, she has the key."
    body = f"The boiler is serviced by Hans Moe.\n\n## {heading}\n\n{later}\n"

    assert text(body, later_update(body, (0, 36), ["boiler"], names_in)) == (later if is_update else "")
    assert later_update(body, (0, 36), ["boiler"]) is None


def test_names_in() -> None:
    """The first word of a sentence is a name only before another one."""
    assert names_in("Serviced by Ada. Then Bo Lie came.") == {"Ada", "Bo", "Lie"}


@pytest.mark.parametrize(
    "question", ["Who has the key?", "wer hat den Schlüssel", "whose boat", "do you know who sails"]
)
def test_asks_for_person(question: str) -> None:
    """In five languages, as a whole word, but not in a clause about others."""
    assert asks_for_person(question)
    assert not asks_for_person("customers who book a boat")
    assert not asks_for_person("What about the whole boat?")


@pytest.mark.parametrize("item", ["1. Drain", "2. Stop", "3) Restart"])
def test_numbered_list(item: str) -> None:
    """All steps are found from any of them, with the lines that belong to the last one."""
    steps = "1. Drain\n2. Stop\n3) Restart\n   it twice"
    body = f"Before you begin:\n{steps}\n\n## Errors\n1. None\n"

    assert text(body, numbered_list(body, body.index(item))) == steps
    assert numbered_list(body, body.index("## Errors")) is None
