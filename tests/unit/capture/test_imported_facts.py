"""Statements that rules draw from imported conversations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import Note, notes_by_rules
from clawmem.domain.conversations.units import messages_of, unit_body

CONVERSATIONS = Path(__file__).parents[2] / "data" / "mined_conversations.jsonl"
PRECISION, RECALL = 0.80, 0.55
KINDS = (Kind.DECISION, Kind.PREFERENCE)


def statements(names: list[str], texts: list[str]) -> list[Note]:
    messages = messages_of(unit_body(names, texts), "2025-01-01T00:00:00.000Z")
    return [note for note in notes_by_rules(messages) if note.kind in KINDS]


def test_rules_find_what_people_decided() -> None:
    """On thirty labelled conversations, most findings are labelled and most labels are found, with their kind."""
    found, right, labelled, hit = 0, 0, 0, 0
    for line in CONVERSATIONS.read_text("utf-8").splitlines():
        one = json.loads(line)
        names = ["User" if speaker == "user" else "Agent" for speaker, _ in one["turns"]]
        facts = statements(names, [text for _, text in one["turns"]])
        labels = [(Kind(kind), part) for kind, part in one["labels"] if kind in KINDS]
        found += len(facts)
        right += sum(any(fact.kind is kind and part in fact.quote for kind, part in labels) for fact in facts)
        labelled += len(labels)
        hit += sum(any(fact.kind is kind and part in fact.quote for fact in facts) for kind, part in labels)

    assert right / found >= PRECISION, (right, found)
    assert hit / labelled >= RECALL, (hit, labelled)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Yes, 68 EUR an hour as always.", None),
        ("Thanks Olu, we go with the yearly licence for the whole table then.", Kind.DECISION),
        ("The filter must be clogged.", None),
    ],
)
def test_what_was_said_is_a_fact_of_its_kind(said: str, kind: Kind | None) -> None:
    """A custom that is confirmed is no preference, and thanks may precede a decision."""
    assert [note.kind for note in statements(["Anna"], [said])] == ([kind] if kind else [])
