"""Hook requests in the server, answered before the client's deadline with the best result so far."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from clawmem.app.client.request import CHOICES
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookOutput, read_event
from clawmem.app.interfaces.hooks.registry import HOOKS, HookRegistration
from clawmem.app.interfaces.hooks.runner import call, log_error
from clawmem.app.places import default_vault
from clawmem.app.serve.warm_vault import Warm, WarmVault
from clawmem.app.serve.workers import Workers

ON_THE_WAY_S = 0.3  # part of the client's deadline reserved for the transfer


class HookDesk:
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
        Return the output line of the hook *name* for *event*.

        Args:
            name: Name of a registered hook.
            choices: The caller's values for the variables in `CHOICES`, which replace those of the server; ``None``
                for a caller that cannot send them.

        Raises:
            Busy: Too many tasks are waiting; nothing was done.
        """
        hook, environ, so_far = HOOKS[name], self._chosen(choices), [SILENCE]

        def work(vault: WarmVault) -> HookOutput:
            return call(name, read_event(event, environ), Warm(environ, so_far.append, vault, self._later))

        future = asyncio.wrap_future(self._workers.submit(work))
        try:
            output = await asyncio.wait_for(future, hook.deadline_s - ON_THE_WAY_S)
        except TimeoutError:
            output = so_far[-1]
        except Exception as error:  # noqa: BLE001  a client always gets an answer
            _write_down(default_vault(environ), name, error)
            output = SILENCE
        return _rendered(output, hook)

    def _chosen(self, choices: Mapping[str, str] | None) -> Mapping[str, str]:
        if choices is None:
            return self._environ
        kept = {name: value for name, value in self._environ.items() if name not in CHOICES}
        return {**kept, **{name: value for name, value in choices.items() if name in CHOICES}}


def _rendered(output: HookOutput, hook: HookRegistration) -> str:
    try:
        return output.render(hook.event)
    except Exception:  # noqa: BLE001  output that cannot be rendered
        return SILENCE.render(hook.event)


def _write_down(vault: Path, name: str, error: BaseException) -> None:
    with suppress(OSError):
        log_error(vault, name, error)
