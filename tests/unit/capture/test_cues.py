from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.capture.contradiction import Verdict, lowered, revises
from clawmem.domain.capture.cues import kind_of
from clawmem.domain.capture.handoff import by_rules, state_of, summary_of, text_of
from clawmem.domain.capture.notes import note_body, notes_by_rules
from clawmem.domain.surfacing.use import answer_to
from clawmem.domain.text.words import query_hash
from clawmem.ports.sessions import FileTouch, Speaker, TranscriptMessage
from clawmem.ports.telemetry import Recall

SENTENCES = Path(__file__).parents[2] / "data" / "captured_sentences.tsv"
U, A = Speaker.USER, Speaker.ASSISTANT


def said(*texts: tuple[Speaker, str]) -> list[TranscriptMessage]:
    return [
        TranscriptMessage(f"m{line}", line, who, text, "2024-05-06T09:00:00.000Z")
        for line, (who, text) in enumerate(texts, start=1)
    ]


def test_sentences_by_kind() -> None:
    """Own statements are found by their kind, what was reported, quoted, supposed, denied or asked is not."""
    rows = [line.split("\t") for line in SENTENCES.read_text("utf-8").splitlines()]
    found = [(text, expected or None, kind_of(text, U)) for _, expected, text in rows]
    right = sum(kind == expected for _, expected, kind in found if kind)
    wrong = [text for text, expected, kind in found if kind != expected]

    assert len(rows) >= 170
    assert right / sum(kind is not None for _, _, kind in found) >= 0.97, wrong
    assert right / sum(expected is not None for _, expected, _ in found) >= 0.97, wrong


def test_what_is_quoted_is_not_said() -> None:
    """Code, quoted lines, tables, pasted chats and what follows a line such as "Tom wrote:" hold no findings."""
    text = "Tom wrote:\n\n- We'll use CouchDB.\n- We'll drop IE.\n\n```\nWe'll use Postgres.\n```\n> We'll use MySQL.\n\n| We'll use | Redis |\n\nWe'll use SQLite."
    text += "\n\nAnna: We'll use Oracle.\n[10:02] Tom Roth: We decided to use Access.\nAnna: I prefer Excel."

    assert [one.quote for one in notes_by_rules(said((U, text)))] == ["We'll use SQLite."]


@given(st.text(max_size=400), st.sampled_from(Speaker))
def test_any_text_is_read(text: str, speaker: Speaker) -> None:
    """Whatever was said, findings are parts of it, within the limits, and reading it does not fail."""
    for one in notes_by_rules(said((speaker, text))):
        assert 10 <= len(one.quote) <= 500
        assert note_body(one)


@given(st.floats(0, 1), st.sampled_from(Verdict))
def test_confidence_only_falls(confidence: float, answer: Verdict) -> None:
    """No verdict raises a confidence, and none takes it below its floor unless it was there."""
    after = lowered(confidence, answer)

    assert after <= confidence
    assert after >= min(confidence, 0.2)


@pytest.mark.parametrize(
    ("texts", "replaced"),
    [
        (["Let's use Postgres.", "Let's use MySQL instead of Postgres."], [(0, 1)]),
        (["I prefer tabs.", "Let's use Postgres.", "I no longer prefer tabs."], [(0, 2)]),
        (["Let's use Postgres.", "Let's keep the old cache.", "We no longer use Postgres."], [(0, 2)]),
        (["Wir nehmen Postgres.", "Wir nehmen doch kein Postgres mehr."], [(0, 1)]),
        (["Let's use Postgres.", "We'll keep the ledger for ten years."], []),
        (["Let's use Postgres.", "Actually, let's use MySQL."], [(0, 1)]),
        (["We'll deploy on Fridays.", "Let's use pnpm.", "No, we'll deploy on Mondays."], [(0, 2)]),
        (["We decided to deploy on Mondays.", "On second thought, we deploy on Tuesdays."], [(0, 1)]),
        (["Let's use Redis for the cache.", "No, scratch that: we use Valkey for the cache."], [(0, 1)]),
        (["We decided to use Postgres for the ledger.", "Actually, let's use Redis for the cache."], []),
    ],
)
def test_revisions_of_a_session(texts: list[str], replaced: list[tuple[int, int]]) -> None:
    """A change of mind replaces the statement that it concerns, in order; other statements stand."""
    messages = said(*((U, text) for text in texts))

    notes = list(notes_by_rules(messages))

    pairs = [
        (old.message.line - 1, new.message.line - 1)
        for old, new in combinations(notes, 2)
        if revises(new, old)
    ]
    assert pairs == replaced


def test_answers_by_text() -> None:
    """Of equal prompts the last counts; what stands before the first prompt answers none."""
    messages = said((A, "late"), (U, "one"), (A, "first"), (A, "more"), (U, "two"), (U, "one"), (A, "again"))

    recall = Recall("", "", query_hash("one"), 0.0, 0)
    assert answer_to(recall, messages) == "again"
    assert answer_to(recall._replace(query_hash=query_hash("two")), messages) == ""


def test_handoff_by_rules() -> None:
    """A handoff has six sections; what was read and written is named."""
    messages = said(
        (U, "Pick a database."), (A, "We decided on Postgres."), (U, "The test failed because of it.")
    )
    touched = TranscriptMessage(
        "m9", 9, A, "", files=(FileTouch("/w/a.py", True), FileTouch("/w/b.py", False))
    )

    sections = by_rules([*messages, touched], list(notes_by_rules(messages)), ["ship it"])
    text = text_of(sections, "0123456789")

    assert sections["files"] == ["/w/a.py"]
    assert sections["investigated"] == ["Read /w/b.py"]
    assert sections["learned"] == ["The test failed because of it."]
    assert sections["next"] == ["ship it"]
    assert summary_of(sections) == "We decided on Postgres."
    assert "## What Was Learned\n\n- The test failed" in text


def test_state_before_compaction_ranks_by_the_last_request() -> None:
    """Decisions that concern the last request come first; there is nothing where nothing was said."""
    messages = said(
        (U, "We'll use Postgres for the ledger."), (U, "We'll keep the cache."), (U, "Now the ledger tables.")
    )

    state = state_of(messages, list(notes_by_rules(messages)))

    assert state.index("Postgres") < state.index("keep the cache")
    assert "## Last User Request\n\nNow the ledger tables." in state
    assert state_of([], []) == ""
