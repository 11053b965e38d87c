"""Hook ``postcompact-capture``: stores the summary of a compacted conversation for other sessions."""

from __future__ import annotations

from clawmem.app.interfaces.hooks.at_stop import capture
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent, HookOutput

AFTER = "PostCompact"


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Store the summary, if the client sends one. The event accepts no answer."""
    if event.compact_summary:
        from clawmem.app.services.capture.redacted_transcripts import without_secrets

        safe = event._replace(compact_summary=without_secrets(event.compact_summary))
        capture("postcompact-capture", safe, context)
    return HookOutput(answers=AFTER)
