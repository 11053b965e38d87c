"""Which texts name a next step, and which only look so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.capture.handoff import (
    STEP_CHARS,
    is_worth_keeping,
    next_steps,
    remaining_steps,
    summary_part,
)
from clawmem.ports.sessions import Speaker, TranscriptMessage

U, A = Speaker.USER, Speaker.ASSISTANT


def said(*texts: tuple[Speaker, str]) -> list[TranscriptMessage]:
    return [TranscriptMessage(f"m{line}", line, who, text) for line, (who, text) in enumerate(texts, start=1)]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("**Next step:** wire it", ["wire it"]),
        ("## What's left\n\n1. Ship it\n2. Tell Mira\n\n## Notes\n\n- The old path stays.", ["Ship it", "Tell Mira"]),
        ("Fertig. Nächster Schritt: den Export anbinden.", ["den Export anbinden."]),
        ("TODO: n/a", []),
        ("```\n# TODO: drop this\n```\nThat is the code.", []),
        ("> Next step: quoted from a mail", []),
        ("What are the next steps?", []),
        ("Next steps for the importer: wire it; test it", ["wire it; test it"]),
        ("TODO (release): sign it. The rest is fine.", ["sign it."]),
        ("Next step: sign it. The rest is fine.", ["sign it."]),
        ("Follow-ups:\n\n- a mail to Mira\n\n- the bill\n\nBye.", ["a mail to Mira", "the bill"]),
        ("Everything runs. What is left:\n1) the docs\n2) the tag", ["the docs", "the tag"]),
        ("Status:\n- Next: the docs\n- Done: the code", ["the docs"]),
        ("Next step: sign it\nGood night", ["sign it"]),
        ("- [ ] sign it\n  - [ ] ship it\n- [X] write it", ["sign it", "ship it"]),
        ("Als Nächstes: der Export.\nOffen: die Lizenz", ["der Export.", "die Lizenz"]),
        ("The next step is to test it.", ["The next step is to test it."]),
        ("Is the next step to sign it?", []),
        ("The next release is in May.", []),
        ("The shop is open: from nine to five.", []),
        ("Next steps:\n\n## Summary\n\n- It runs.", []),
        ("Remaining: nothing.", []),
        ("Offen: keine", []),
    ],
)  # fmt: skip
def test_next_steps(text: str, steps: list[str]) -> None:
    """A label with its text or list, an open box, and a sentence that says it; nothing that only holds the words."""
    assert list(next_steps(text)) == steps


@given(st.text(alphabet="Next step:TODO- []x\n#*`>.ä", max_size=200))
def test_any_text_is_read(text: str) -> None:
    """Whatever stands there, a step is a text on one line, and no longer than may be."""
    for step in next_steps(text):
        assert 0 < len(step) <= STEP_CHARS
        assert "\n" not in step


def test_steps_that_are_left() -> None:
    """Of the last twenty messages, and of each speaker the last message that names any."""
    old = said((U, "TODO: too old"), *((A, f"Message {number}.") for number in range(20)))
    new = said((U, "TODO: a"), (A, "Next: b"), (U, "TODO: c"), (A, "- [x] a\n\nNext: d"), (A, "Done."))

    assert remaining_steps(old) == []
    assert remaining_steps(new) == ["c", "d"]


def test_what_makes_a_handoff_worth_keeping() -> None:
    """An outcome, or a quoted finding; not what was asked or read, nor what only a model says was learnt."""
    nothing: dict[str, list[str]] = {
        "request": ["Hi"],
        "investigated": ["Read /a"],
        "learned": [],
        "done": [],
        "files": [],
        "next": [],
    }

    assert not is_worth_keeping(nothing, nothing)
    assert not is_worth_keeping({**nothing, "learned": ["Notes say so."]}, nothing)
    assert is_worth_keeping(
        {**nothing, "learned": ["It leaks."]}, {**nothing, "learned": ["It leaks because."]}
    )
    assert is_worth_keeping({**nothing, "done": ["Fixed."]}, nothing)


@pytest.mark.parametrize(
    ("reported", "summary"),
    [
        ("Plain.", "Plain."),
        ("<analysis>a</analysis> b <analysis>c</analysis> d", "b  d"),
        (
            "x <summary>We strip `<analysis>` and `</analysis>`.</summary> y",
            "We strip `<analysis>` and `</analysis>`.",
        ),
        ("<analysis type='x'>a<summary>b", "b"),
        ("<analysis>a", ""),
        ("<ANALYSIS>a</ANALYSIS>b", "b"),
        ("b<analysis>a", "b"),
        ("<summary></summary>", ""),
        ("", ""),
    ],
)
def test_the_summary_within_what_a_client_reports(reported: str, summary: str) -> None:
    """Without the scratchpad, closed or not; a tag in backticks is a word."""
    assert summary_part(reported) == summary
