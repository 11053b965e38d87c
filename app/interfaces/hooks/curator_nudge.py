"""Hook ``curator-nudge``: shows the recommendations of the last ``clawmem curate``."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from clawmem.app.environment.places import CURATOR_REPORT
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.interfaces.hooks.safety import safe

MOST_BYTES = 1_000_000


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Return the recommendations while they are recent; silence without a report."""
    report = _report(context.vault.with_name(CURATOR_REPORT))
    if report is None or event.in_subagent:
        return SILENCE
    with context.records() as vault:
        if vault is None:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.curation import curation_note

        counts = {
            "pending": vault.embeddings.counts().pending,
            "documents": sum(vault.documents.collections().values()),
        }
        return HookOutput(curation_note(report, SystemClock().now_ms(), safe, **counts))


def _report(file: Path) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        if file.stat().st_size <= MOST_BYTES:
            return file.read_text("utf-8")
    return None
