"""Hooks, answered by the server: in time, with what there is by then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from clawmem.app.hooks.protocol import SILENCE, HookOutput, read_event
from clawmem.app.hooks.registry import HOOKS, HookRegistration
from clawmem.app.hooks.runner import call, log_error
from clawmem.app.hooks.thin_client import CHOICES
from clawmem.app.places import default_vault
from clawmem.app.serve.warm_vault import Warm, WarmVault
from clawmem.app.serve.workers import Workers

ON_THE_WAY_S = 0.3  # of the time that a client waits


class HookDesk:
    """
    Answers events of the vault that *environ* names.

    Args:
        later: Called when something was left to be done in the background.
    """

    def __init__(self, workers: Workers, environ: Mapping[str, str], later: Callable[[], None]) -> None:
        self._workers = workers
        self._environ = environ
        self._later = later

    async def answer(self, name: str, event: str, choices: Mapping[str, str] | None) -> str:
        """
        The line that the hook *name*, which there is, says to *event*.

        Args:
            choices: What the caller chose of `CHOICES`, the rest being as if this were its process; ``None``
                for one that can choose nothing.

        Raises:
            Busy: nothing was done.
        """
        hook, environ, so_far = HOOKS[name], self._chosen(choices), [SILENCE]

        def work(vault: WarmVault) -> HookOutput:
            return call(name, read_event(event, environ), Warm(environ, so_far.append, vault, self._later))

        future = asyncio.wrap_future(self._workers.submit(work))
        try:
            output = await asyncio.wait_for(future, hook.deadline_s - ON_THE_WAY_S)
        except TimeoutError:
            output = so_far[-1]
        except Exception as error:  # noqa: BLE001  whatever happens, a client gets its answer
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
    except Exception:  # noqa: BLE001  an answer that is none
        return SILENCE.render(hook.event)


def _write_down(vault: Path, name: str, error: BaseException) -> None:
    with suppress(OSError):
        log_error(vault, name, error)
