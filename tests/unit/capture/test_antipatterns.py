from __future__ import annotations

import sys
from pathlib import Path

import pytest

from clawmem.domain.capture.antipatterns import MOST, antipatterns, with_antipatterns
from clawmem.domain.capture.extraction import findings
from clawmem.domain.capture.kinds import Kind
from clawmem.ports.sessions import Speaker, TranscriptMessage

sys.path.insert(0, str(Path(__file__).parents[2] / "data" / "transcripts"))

from make_transcripts import conversations


def said(*texts: str, by: Speaker = Speaker.ASSISTANT) -> list[TranscriptMessage]:
    return [TranscriptMessage(f"m{line}", line, by, text) for line, text in enumerate(texts, start=1)]


@pytest.mark.parametrize(
    "sentence",
    [
        "I tried to patch the lock file, but npm wrote it back.",
        "Mocking the clock was a mistake: the scheduler reads it twice.",
        "A second cache turned out to be a dead end.",
        "We should never have shared the session between workers.",
        "Never run the formatter over schema.sql, because its checksum is compared at start.",
        "Avoid LIKE on that column; it scans the whole table.",
        "Don't restart the broker by hand or it loses the queue.",
        "Pinning the loop to one core does not work when the laptop sleeps.",
        "I reverted the batch insert because it locked the table for a minute.",
        "Lesson learned: read the migration log first.",
        "Der zweite Cache war ein Fehler.",
    ],
)
def test_what_failed_or_is_warned_of(sentence: str) -> None:
    """A failure and a warning with its reason are antipatterns, word for word, whoever says them."""
    [found] = antipatterns(said(sentence))

    assert (found.kind, found.sentence) == (Kind.ANTIPATTERN, sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Was the second cache a mistake?",
        "Should we never have shared the session, or is it fine because nobody noticed?",
        "Don't worry about the lock file.",
        "I never saw that page.",
        "The tests do not run on Windows.",
        "I tried the new parser and it works.",
        "Avoid it.",
        "The lesson plan is in the other folder.",
    ],
)
def test_what_is_neither(sentence: str) -> None:
    """A question, a plain negation, a success and a warning without a reason are none."""
    assert list(antipatterns(said(sentence))) == []


def test_nothing_of_what_is_labelled_otherwise_is_taken() -> None:
    """Forty conversations with decisions, wishes and problems lose at most one of a hundred findings to them."""
    found = [list(findings(messages)) for messages in _spoken()]
    renamed = [with_antipatterns(one, messages) for one, messages in zip(found, _spoken(), strict=True)]

    lost = sum(one not in after for before, after in zip(found, renamed, strict=True) for one in before)
    assert sum(map(len, found)) > 0
    assert lost <= 0.01 * sum(map(len, found))


def test_a_sentence_has_one_kind() -> None:
    """A decision stays one though it warns; a problem that warns is an antipattern; by line."""
    messages = said(
        "The ledger is broken.",
        "We decided to drop the cache, it was a mistake.",
        "The problem was the pool: it was a dead end.",
    )

    kinds = [one.kind.value for one in with_antipatterns(list(findings(messages)), messages)]

    assert kinds == ["problem", "decision", "antipattern"]


def test_ten_at_most() -> None:
    """And the same sentence again is not another."""
    many = [f"Cache {number} was a mistake." for number in range(20)]

    assert len(list(antipatterns(said(*many)))) == MOST == 10
    assert len(list(antipatterns(said(many[0], many[0].upper())))) == 1


def _spoken() -> list[list[TranscriptMessage]]:
    speakers = {"U": Speaker.USER, "A": Speaker.ASSISTANT}
    return [
        [
            TranscriptMessage(f"m{line}", line, speakers[who], text)
            for line, (who, text) in enumerate(one.steps)
            if who in speakers
        ]
        for part in ("tuning", "heldout")
        for one in conversations(part)
    ]
