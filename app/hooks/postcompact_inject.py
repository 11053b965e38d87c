"""postcompact-inject: back into the conversation with what its summary lost."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from clawmem.app.hooks.opening import searchable
from clawmem.app.hooks.protocol import SILENCE, HookEvent, HookOutput, Offer
from clawmem.app.hooks.safety import safe

STATE = Path("memory") / "precompact-state.md"  # beside the transcript
MOST_BYTES = 200_000


def run(event: HookEvent, offer: Offer) -> HookOutput:
    """Only where a session starts because it was compacted; installed by hand it may be called at every start."""
    if event.source != "compact" or event.in_subagent:
        return SILENCE
    with searchable() as vault:
        if vault is None:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.compaction import AfterCompaction
        from clawmem.app.services.retrieval.pipelines.search import search

        brief = AfterCompaction(vault, search(vault), SystemClock(), safe)
        return HookOutput(brief(_state(event.transcript_path)))


def _state(transcript_path: str) -> str:
    with suppress(OSError, ValueError):
        transcript = Path(transcript_path)
        if transcript.is_absolute():
            with (transcript.parent / STATE).open("rb") as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
    return ""
