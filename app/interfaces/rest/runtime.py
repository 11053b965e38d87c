"""Interface between the REST API and the process that serves it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from clawmem.app.operations.dispatch import Dispatcher


class HookAnswers(Protocol):
    """Handler of events of a client."""

    async def answer(self, name: str, event: str, choices: Mapping[str, str] | None) -> str:
        """Return the output line for *event*, see `clawmem.app.serve.hook_handler.HookHandler`."""


class Runtime(Protocol):
    """A running server: its vault, its threads and its handler of events."""

    vault: Path

    @property
    def dispatcher(self) -> Dispatcher:
        """Threads that run operations."""

    @property
    def hooks(self) -> HookAnswers:
        """Handler of events."""

    def at_work(self) -> AbstractContextManager[None]:
        """Run the threads inside the block."""
