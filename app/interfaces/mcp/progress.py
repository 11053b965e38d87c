"""Progress of a long tool, reported to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

from mcp.server.mcpserver import Context

AT_MOST_EVERY_S = 0.25


def steps_for(ctx: Context[Any, Any], what: str) -> Callable[[int, int], None]:
    """Return a callback (done, total) for the working thread; it does not wait for the client."""
    loop = asyncio.get_running_loop()
    told_at = -AT_MOST_EVERY_S

    def step(done: int, total: int) -> None:
        nonlocal told_at
        if monotonic() - told_at >= AT_MOST_EVERY_S:
            told_at = monotonic()
            asyncio.run_coroutine_threadsafe(ctx.report_progress(done, total, what), loop)

    return step
