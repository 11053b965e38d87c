"""Hook ``pretool-inject``: shows lessons about a file that is about to be changed."""

from __future__ import annotations

from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.injected import InjectedFingerprints
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.interfaces.hooks.safety import safe
from clawmem.domain.briefing.naming import file_name

FILE_FIELDS = ("file_path", "notebook_path")
SHORTEST = 3  # characters of a name that identifies a file
LONGEST, LONGEST_PATH = 255, 4096  # characters


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Return up to three lessons that name the file; silence if there are none."""
    path = touched(event)
    if not SHORTEST <= len(file_name(path)) <= LONGEST or event.in_subagent:
        return SILENCE
    with context.searchable() as vault:
        if vault is None:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.file_lessons import FileLessons
        from clawmem.app.services.retrieval.pipelines.search import search

        output = HookOutput(FileLessons(search(vault), SystemClock(), safe)(path))
    context.offer(output)
    InjectedFingerprints(context.vault).add(event.session_id, output.context)
    return output


def touched(event: HookEvent) -> str:
    """Return the path of the file that a tool is about to change; empty if it names none."""
    paths = [event.tool_input.get(field) for field in FILE_FIELDS]
    return next((path for path in paths if isinstance(path, str)), "")[:LONGEST_PATH]
