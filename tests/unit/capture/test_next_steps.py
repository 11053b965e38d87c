"""Which texts name a next step, and which only look so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.capture.handoff import ITEM_CHARS, is_worth_keeping, next_steps, remaining_steps
from clawmem.ports.sessions import Speaker, TranscriptMessage

U, A = Speaker.USER, Speaker.ASSISTANT


def said(*texts: tuple[Speaker, str]) -> list[TranscriptMessage]:
    return [TranscriptMessage(f"m{line}", line, who, text) for line, (who, text) in enumerate(texts, start=1)]


@given(st.text(alphabet="Next step:TODO- []x\n#*`>.ä", max_size=200))
def test_any_text_is_read(text: str) -> None:
    """Whatever stands there, a step is a text on one line, and no longer than may be."""
    for step in next_steps(text):
        assert 0 < len(step) <= ITEM_CHARS
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
