"""Hook ``postcompact-inject``: restores information that the summary of a conversation omits."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from clawmem.adapters.files.regular import open_regular_file
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.conversation import state_file
from clawmem.app.interfaces.hooks.injected import InjectedFingerprints
from clawmem.app.interfaces.hooks.postcompact_capture import AFTER
from clawmem.app.interfaces.hooks.postcompact_capture import run as keep
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.interfaces.hooks.safety import safe

MOST_BYTES = 200_000


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """
    Return a block for a session that starts after a compaction; silence for other starts.

    For the event PostCompact, which accepts no answer, store the summary instead.
    """
    if event.name == AFTER:
        context.offer(HookOutput(answers=AFTER))
        return keep(event, context)
    if event.source != "compact" or event.in_subagent:
        return SILENCE
    with context.searchable() as vault:
        if vault is None:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.compaction import AfterCompaction
        from clawmem.app.services.retrieval.pipelines.search import search

        brief = AfterCompaction(vault, search(vault), SystemClock(), safe)
        output = HookOutput(brief(_state(event.transcript_path), event.compact_summary))
    context.offer(output)
    InjectedFingerprints(context.vault).add(event.session_id, output.context)
    return output


def _state(transcript_path: str) -> str:
    with suppress(OSError, ValueError):
        if Path(transcript_path).is_absolute():
            with open_regular_file(state_file(transcript_path)) as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
    return ""
