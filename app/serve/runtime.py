"""Runtime of the server behind its interfaces: hook events, and background threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import move_on_after

from clawmem.app.bootstrap.container import Gateways
from clawmem.app.client.announcement import OPTIONAL_HOOKS_VARIABLE
from clawmem.app.client.hook_registry import EVENTS, HOOKS, SESSION_VARIABLES, call_named
from clawmem.app.client.request import CHOICES
from clawmem.app.environment.places import is_there
from clawmem.app.environment.private_files import log_error
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext, fault_of_event
from clawmem.app.interfaces.hooks.protocol import HookEvent, answer, read_event
from clawmem.app.interfaces.hooks.sessions import do_jobs
from clawmem.app.interfaces.hooks.spool import Spool
from clawmem.app.operations.dispatch import Busy, Dispatcher
from clawmem.app.serve.background import BackgroundThread, at_work, lane_threads, watcher_thread
from clawmem.app.settings.model import load_settings
from clawmem.ports.errors import ConfigError, NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings

ON_THE_WAY_S = 0.3  # part of a hook client's deadline reserved for the transfer
MODELS_S = 600.0  # total time that background jobs may wait for models; no client waits for these jobs


class ResidentContext(HookContext):
    """Hook context inside a server: it uses the thread's open vault and defers slow jobs to the background."""

    def __init__(
        self,
        environ: Mapping[str, str],
        offer: Callable[[str], None],
        dispatcher: Dispatcher,
        later: Callable[[], object],
    ) -> None:
        super().__init__(environ, offer, later)
        self._dispatcher = dispatcher

    @contextmanager
    def services(self) -> Iterator[Services | None]:
        """Yield the open services; ``None`` without a vault. Settings that are invalid now are ignored."""

        def settings() -> Settings:
            try:
                return self._dispatcher.settings
            except ConfigError:
                return load_settings(environ=self.environ, lenient=True)

        if not is_there(self.vault):
            yield None
            return
        with self._dispatcher.services(settings) as services:
            yield services


class ServerRuntime:
    """
    Components of the server; their threads start in `at_work`.

    Args:
        environ: Environment of the server; the vault it names is overridden by *vault*.
        settings: Settings for the watcher and the maintenance lanes; ``None`` to run neither.
        watch: Whether the folders of the settings are watched.
    """

    def __init__(
        self, vault: Path, environ: Mapping[str, str], settings: Settings | None = None, *, watch: bool = True
    ) -> None:
        self.vault = vault
        # The server may be started from a client's session, but it serves all sessions alike.
        own = {name: value for name, value in environ.items() if name not in SESSION_VARIABLES}
        self.environ = {**own, "INDEX_PATH": str(vault)}
        self.dispatcher = Dispatcher(lambda: load_settings(environ=self.environ))
        self._drainer = BackgroundThread("drain", self._drain, partial(self._log, "drain"))
        self._threads = [self._drainer]
        if settings and watch:
            self._threads.append(watcher_thread(settings, partial(self._log, "watch")))
        if settings:
            self._threads += lane_threads(settings, partial(self._log, "lanes"))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run the background threads inside the block; at its end wait a limited time for tasks in progress."""
        with at_work(self._threads):
            yield
        self.dispatcher.close()
        Gateways.checkpoint_log(str(self.vault))

    async def answer_event(self, name: str, event: str, choices: Mapping[str, str] | None) -> str:
        """
        Return the output line for *event* of the hooks that *name* names, an event or one hook.

        Args:
            choices: The caller's values for the variables in `CHOICES`, which replace those of the server; ``None``
                for a caller that cannot send them.

        Raises:
            Busy: Too many tasks are waiting. The client then runs all hooks itself; their jobs are idempotent.
            NotFound: There is no such event or hook.
        """
        environ = self.environ
        if choices is not None:
            own = {variable: value for variable, value in environ.items() if variable not in CHOICES}
            environ = own | {variable: choices[variable] for variable in CHOICES if variable in choices}
        called = call_named(name, environ.get(OPTIONAL_HOOKS_VARIABLE, ""))
        if called is None:
            raise NotFound("hook", name, suggestions=[*EVENTS, *HOOKS])
        event_read = read_event(event, environ)
        if fault := fault_of_event(event):
            self._log(name, fault)
        hooks = called.hooks_for(event_read.matched_value)
        contexts = [await self._context_of(hook, event_read, environ) for hook in hooks]
        return answer(called.event, "\n\n".join(filter(None, contexts)))

    async def _context_of(self, name: str, event: HookEvent, environ: Mapping[str, str]) -> str:
        """Return the context of the hook *name*: the last one that it offered before its deadline."""
        offers = [""]
        context = ResidentContext(environ, offers.append, self.dispatcher, self._drainer.wake)
        try:
            with move_on_after(HOOKS[name].deadline_s - ON_THE_WAY_S):
                return await self.dispatcher.in_thread(partial(HANDLERS[name], event, context))
        except Busy:
            raise
        except Exception as error:  # noqa: BLE001  a client always gets an answer
            self._log(name, error)
            return ""
        return offers[-1]

    def _drain(self, stop: threading.Event) -> None:
        try:
            if Spool(self.vault).jobs() and self.vault.exists():
                do_jobs(self.vault, self.environ, MODELS_S)
        finally:
            Gateways.checkpoint_log(str(self.vault))

    def _log(self, name: str, error: BaseException) -> None:
        with suppress(OSError):
            log_error(self.vault, name, error)
