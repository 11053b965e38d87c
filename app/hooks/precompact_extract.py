"""precompact-extract: what must not be lost when the conversation is compacted."""

from __future__ import annotations

from clawmem.app.hooks.at_stop import capture
from clawmem.app.hooks.protocol import HookEvent, HookOutput
from clawmem.app.hooks.surroundings import Surroundings


def run(event: HookEvent, here: Surroundings) -> HookOutput:
    """Save the state beside the transcript; right after this the conversation is a summary."""
    return capture("precompact-extract", event, here)
