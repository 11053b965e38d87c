"""The version of a subject that a question means, among notes whose names differ only in their version."""

from __future__ import annotations

import pytest

from clawmem.domain.retrieval.versions import (
    Wanted,
    decision_subjects,
    in_wanted_order,
    subject_name,
    wanted_version,
)

OLD, MIDDLE, NEW = 1, 2, 3
STORES = {MIDDLE: (0, "2025-09-09"), NEW: (0, "2026-05-12"), OLD: (0, "2025-02-18")}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("house/energy-2025.md", "house/energy-2026.md"),
        ("house/school.md", "house/school-2026.md"),
        ("Lab/travel rules before.md", "Lab/travel rules.md"),
        ("House/rent 2025.md", "House/rent from july.md"),
        ("plans/Roadmap (old).md", "plans/roadmap_new.md"),
    ],
)
def test_versions_have_one_subject(one: str, other: str) -> None:
    """Years and words such as "old" and "before" do not belong to the subject."""
    assert subject_name(one) == subject_name(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("chats/session-01.md", "chats/session-02.md"),
        ("meetings/2026-03-04-broker.md", "meetings/2026-03-11-broker.md"),
        ("house/energy-2025.md", "boat/energy-2026.md"),
        ("journal/2025-07.md", "journal/2026-07.md"),
    ],
)
def test_records_are_no_versions(one: str, other: str) -> None:
    """Numbered and dated notes each stay true, and so do notes of different folders; a bare date names no subject."""
    assert subject_name(one) != subject_name(other) or subject_name(one) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("adr/2025-04-29-sensor-sht31.md", "adr/2025-08-19-sensor-sht45.md"),
        ("adr/2026-03-03-slot-hold-length.md", "adr/2026-07-21-shorter-slot-hold.md"),
        ("adr/0004-the-logins-by-password.md", "adr/0009-logins-by-passkey.md"),
    ],
)
def test_decisions_about_one_subject(one: str, other: str) -> None:
    """Their names begin with one content word, or share two in any order."""
    assert decision_subjects(one) & decision_subjects(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("adr/0001-use-postgres.md", "adr/0002-use-markdown.md"),
        ("adr/2026-01-20-alerts-push-then-call.md", "adr/2026-04-14-on-call-two-weeks.md"),
        ("adr/2025-04-29-sensor.md", "lab/adr/2025-08-19-sensor.md"),
        ("adr/2025-04-29.md", "adr/2025-08-19.md"),
    ],
)
def test_decisions_about_different_subjects(one: str, other: str) -> None:
    """A verb of deciding and one word further on name no subject; every folder has its own."""
    assert not decision_subjects(one) & decision_subjects(other)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("what is our rent", Wanted.CURRENT),
        ("how was the bread that came out flat", Wanted.CURRENT),
        ("which broker did we use before", Wanted.FORMER),
        ("what did Pixel use to eat", Wanted.FORMER),
        ("which broker did the gateways talk to originally", Wanted.EARLIEST),
        ("what did a dairy pay when we started", Wanted.EARLIEST),
    ],
)
def test_the_wanted_version(question: str, wanted: Wanted) -> None:
    """The current one unless its words say otherwise."""
    assert wanted_version(question) is wanted


def test_the_order_of_versions() -> None:
    """By date; of the former versions the last one comes first, and the current one last."""
    assert in_wanted_order(STORES, Wanted.CURRENT) == [NEW, MIDDLE, OLD]
    assert in_wanted_order(STORES, Wanted.CURRENT, "2026-01-01") == [MIDDLE, OLD, NEW]
    assert in_wanted_order(STORES, Wanted.EARLIEST) == [OLD, MIDDLE, NEW]
    assert in_wanted_order(STORES, Wanted.FORMER) == [MIDDLE, OLD, NEW]
