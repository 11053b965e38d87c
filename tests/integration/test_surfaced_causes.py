"""A root cause that a session found is surfaced in later ones: captured by the Stop hook, asked for as a prompt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hook_process import ask_inside, transcript

CAUSE = "Bookings fail with ERR_HOLD_EXPIRED because the sweep compares local time with UTC."
FIRST = (
    ("Why do riders see errors in the morning?", "I will look at the log of the booking service."),
    ("What did you find?", CAUSE),
    ("Thanks.", "You are welcome."),
)
UNRELATED = {
    f"{name}.md": f"# {name.title()}\n\nThe {name} fails now and then, and nobody knows what causes it.\n"
    for name in ("printer", "gateway", "scanner", "projector", "kettle")
}


@pytest.mark.parametrize(
    "prompt",
    ["what causes ERR_HOLD_EXPIRED?", "why does a booking fail with ERR_HOLD_EXPIRED", "ERR_HOLD_EXPIRED"],
)
def test_a_stored_cause_comes_first(
    run: Callable[..., object], environ: dict[str, str], home: Path, notes: Path, prompt: str
) -> None:
    """It stands before notes that share the other words of the question."""
    for name, text in UNRELATED.items():
        (notes / name).write_text(text, "utf-8")
    run("bootstrap", notes)
    stop = {
        "hook_event_name": "Stop",
        "session_id": "s1",
        "transcript_path": str(transcript(home / "s1.jsonl", *FIRST)),
    }
    ask_inside(environ, "decision-extractor", stop)

    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s2", "prompt": prompt}
    block = ask_inside(environ, "context-surfacing", event).context

    first = next((line for line in block.splitlines() if line.startswith("**")), "")
    assert "(antipattern) _clawmem/" in first, block
    assert "compares local time with UTC" in block
