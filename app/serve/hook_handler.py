"""Hook requests in the server, answered before the client's deadline with the best result so far."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.bootstrap.resident import CachedModels, WarmVault
from clawmem.app.client.hook_registry import EVENTS, HOOKS, call_named
from clawmem.app.client.request import CHOICES, OPTIONAL_HOOKS_VARIABLE
from clawmem.app.environment.places import default_vault
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput, Offer, joined, read_event
from clawmem.app.interfaces.hooks.runner import call, log_error
from clawmem.app.serve.workers import Workers
from clawmem.ports.errors import NotFound

if TYPE_CHECKING:
    from clawmem.app.interfaces.hooks.spool import Spool
    from clawmem.app.services.indexes.vault import ServedVault
    from clawmem.ports.vault import RecordVault

ON_THE_WAY_S = 0.3  # part of the client's deadline reserved for the transfer


class HookHandler:
    """
    Handler of hook events for the vault that *environ* names.

    Args:
        later: Called when an event leaves jobs for the background.
    """

    def __init__(self, workers: Workers, environ: Mapping[str, str], later: Callable[[], None]) -> None:
        self._workers = workers
        self._environ = environ
        self._later = later

    async def answer(self, name: str, event: str, choices: Mapping[str, str] | None) -> str:
        """
        Return the output line for *event* of the hooks that *name* names, an event or one hook.

        Args:
            choices: The caller's values for the variables in `CHOICES`, which replace those of the server; ``None``
                for a caller that cannot send them.

        Raises:
            Busy: Too many tasks are waiting. The client then runs all hooks itself; their jobs are idempotent.
            NotFound: There is no such event or hook.
        """
        environ = self._chosen(choices)
        called = call_named(name, environ.get(OPTIONAL_HOOKS_VARIABLE, ""))
        if called is None:
            raise NotFound("hook", name, suggestions=[*EVENTS, *HOOKS])
        event_read = read_event(event, environ)
        hooks = called.hooks_for(event_read.matched_value)
        outputs = [await self._output_of(hook, event_read, environ) for hook in hooks]
        return _rendered(outputs, called.event)

    async def _output_of(self, name: str, event: HookEvent, environ: Mapping[str, str]) -> HookOutput:
        """Return the output of the hook *name*: the last one that it offered before its deadline."""
        so_far = [SILENCE]

        def work(vault: WarmVault) -> HookOutput:
            return call(name, event, ResidentContext(environ, so_far.append, vault, self._later))

        future = asyncio.wrap_future(self._workers.submit(work))
        try:
            return await asyncio.wait_for(future, HOOKS[name].deadline_s - ON_THE_WAY_S)
        except TimeoutError:
            return so_far[-1]
        except Exception as error:  # noqa: BLE001  a client always gets an answer
            _write_down(default_vault(environ), name, error)
            return SILENCE

    def _chosen(self, choices: Mapping[str, str] | None) -> Mapping[str, str]:
        if choices is None:
            return self._environ
        kept = {name: value for name, value in self._environ.items() if name not in CHOICES}
        return {**kept, **{name: value for name, value in choices.items() if name in CHOICES}}


class ResidentContext(HookContext):
    """Hook context inside a server: it uses the thread's open vault and defers slow jobs to the background."""

    def __init__(
        self, environ: Mapping[str, str], offer: Offer, vault: WarmVault, later: Callable[[], None]
    ) -> None:
        super().__init__(environ, offer)
        self._warm = vault
        self._later = later

    @property
    def models(self) -> CachedModels:
        """The models cached by this thread."""
        return self._warm.models

    def records(self) -> AbstractContextManager[RecordVault | None]:
        """Return a context manager for the open records."""
        return self._warm.records()

    def searchable(self) -> AbstractContextManager[ServedVault | None]:
        """Return a context manager for the open vault with its indexes."""
        return self._warm.served()

    def work_off(self, spool: Spool) -> list[str]:
        """Defer the spooled jobs to the background; return no failures."""
        self._later()
        return []


def _rendered(outputs: Sequence[HookOutput], event_name: str) -> str:
    try:
        return joined(outputs).render(event_name)
    except Exception:  # noqa: BLE001  output that cannot be rendered
        return SILENCE.render(event_name)


def _write_down(vault: Path, name: str, error: BaseException) -> None:
    with suppress(OSError):
        log_error(vault, name, error)
