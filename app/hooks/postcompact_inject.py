"""postcompact-inject: back into the conversation with what its summary lost."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from clawmem.adapters.files.regular import open_regular_file
from clawmem.app.hooks.conversation import state_file
from clawmem.app.hooks.injected import Injected
from clawmem.app.hooks.postcompact_capture import AFTER
from clawmem.app.hooks.postcompact_capture import run as keep
from clawmem.app.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.hooks.safety import safe
from clawmem.app.hooks.surroundings import Surroundings

MOST_BYTES = 200_000


def run(event: HookEvent, here: Surroundings) -> HookOutput:
    """
    Only where a session starts because it was compacted; installed by hand it may be called at every start.

    After a compaction, where nothing can be said any more, it keeps the summary instead.
    """
    if event.name == AFTER:
        here.offer(HookOutput(answers=AFTER))
        return keep(event, here)
    if event.source != "compact" or event.in_subagent:
        return SILENCE
    with here.searchable() as vault:
        if vault is None:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.compaction import AfterCompaction
        from clawmem.app.services.retrieval.pipelines.search import search

        brief = AfterCompaction(vault, search(vault), SystemClock(), safe)
        output = HookOutput(brief(_state(event.transcript_path), event.compact_summary))
    here.offer(output)
    Injected(here.vault).add(event.session_id, output.context)
    return output


def _state(transcript_path: str) -> str:
    with suppress(OSError, ValueError):
        if Path(transcript_path).is_absolute():
            with open_regular_file(state_file(transcript_path)) as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
    return ""
