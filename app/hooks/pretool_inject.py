"""pretool-inject: the lesson about a file, when that file is about to be changed."""

from __future__ import annotations

from pathlib import PureWindowsPath

from clawmem.app.hooks.opening import searchable
from clawmem.app.hooks.protocol import SILENCE, HookEvent, HookOutput, Offer
from clawmem.app.hooks.safety import safe

FILE_FIELDS = ("file_path", "notebook_path")
SHORTEST = 3  # characters of a name that tells one file from another
LONGEST = 255  # characters


def run(event: HookEvent, offer: Offer) -> HookOutput:
    """Up to three lessons that name the file; silence where there are none."""
    name = file_name(event)
    if not SHORTEST <= len(name) <= LONGEST or event.in_subagent:
        return SILENCE
    with searchable() as vault:
        if vault is None:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.file_lessons import FileLessons
        from clawmem.app.services.retrieval.pipelines.search import search

        return HookOutput(FileLessons(vault, search(vault), SystemClock(), safe)(name))


def file_name(event: HookEvent) -> str:
    """The name of the file that a tool is about to change, on whatever system; empty where it names none."""
    paths = [event.tool_input.get(field) for field in FILE_FIELDS]
    return next((PureWindowsPath(path).name for path in paths if isinstance(path, str)), "")
