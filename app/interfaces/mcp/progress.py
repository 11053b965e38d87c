"""Progress of long tools, reported to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from mcp.server.mcpserver import Context

from clawmem.app.services.progress import Progress, ProgressOf

AT_MOST_EVERY_S = 0.25


def progress_for(ctx: Context[Any, Any]) -> ProgressOf:
    """Return a function for the thread that works: it yields a callback for each phase, which never waits."""
    loop = asyncio.get_running_loop()

    @contextmanager
    def progress(label: str) -> Iterator[Progress]:
        yield _steps(ctx, label, loop)

    return progress


def steps_for(ctx: Context[Any, Any], what: str) -> Progress:
    """Return a callback for the thread that works: it reports the completed part of the total, and never waits."""
    return _steps(ctx, what, asyncio.get_running_loop())


def _steps(ctx: Context[Any, Any], label: str, loop: asyncio.AbstractEventLoop) -> Progress:
    reported_at = -AT_MOST_EVERY_S

    def step(done: int, total: int) -> None:
        nonlocal reported_at
        if monotonic() - reported_at >= AT_MOST_EVERY_S:
            reported_at = monotonic()
            asyncio.run_coroutine_threadsafe(ctx.report_progress(done, total, label), loop)

    return step
