"""Runtime of the server behind its interfaces: worker threads over the vault, hook events, and background threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.bootstrap.resident import (
    CachedModels,
    WarmVault,
    best_effort_writer,
    checkpoint_logs,
    load_word_vectors,
)
from clawmem.app.client.hook_registry import EVENTS, HOOKS, SESSION_VARIABLES, call_named
from clawmem.app.client.request import CHOICES, OPTIONAL_HOOKS_VARIABLE
from clawmem.app.environment.places import default_vault
from clawmem.app.interfaces.hooks.capture import drained
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput, Offer, joined, read_event
from clawmem.app.interfaces.hooks.runner import call, log_error
from clawmem.app.interfaces.hooks.spool import JobsFailed, Spool
from clawmem.app.serve.background import Drainer, WatcherThread, end_lanes, lane_threads
from clawmem.app.serve.dispatcher import Dispatcher, Line
from clawmem.app.serve.workers import Workers
from clawmem.ports.errors import NotFound

if TYPE_CHECKING:
    from clawmem.app.settings.model import Settings
    from clawmem.ports.vault import Vault

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

    def records(self) -> AbstractContextManager[Vault | None]:
        """Return a context manager for the open records."""
        return self._warm.records()

    def searchable(self) -> AbstractContextManager[Vault | None]:
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


HANDS_S = 2.0  # grace period for each group of threads at shutdown
MODELS_S = 600.0  # total time that background jobs may wait for models; no client waits for these jobs


class ServerRuntime:
    """
    Components of the server; their threads start in `at_work`.

    Args:
        environ: Environment of the server; the vault it names is overridden by *vault*.
        watched: Settings whose folders are watched; None to watch none.
        upkept: Settings that choose the maintenance lanes to run; None to run none.
    """

    def __init__(
        self,
        vault: Path,
        environ: Mapping[str, str],
        watched: Settings | None = None,
        upkept: Settings | None = None,
    ) -> None:
        self.vault = vault
        # The server may be started from a client's session, but it serves all sessions alike.
        own = {name: value for name, value in environ.items() if name not in SESSION_VARIABLES}
        self.environ = {**own, "INDEX_PATH": str(vault)}
        self.workers = Workers(lambda: WarmVault(self.environ))
        # Writes of all interfaces are queued for a single thread.
        self.writer = Workers(lambda: WarmVault(self.environ), count=1)
        self.dispatcher = Dispatcher(self._settings, _line(self.workers), _line(self.writer))
        self.drainer = Drainer(self._drain, self._complains_of("drain"))
        self.hooks = HookHandler(self.workers, self.environ, self.drainer.wake)
        self.watcher = WatcherThread(watched, self._complains_of("watch")) if watched else None
        self.lanes = lane_threads(upkept, self._complains_of("lanes"))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Start all threads; at the end wait a limited time for tasks in progress."""
        with best_effort_writer(self.vault):
            self._begin()
            try:
                yield
            finally:
                self._end()
        self._put_log_away()

    def _begin(self) -> None:
        self.workers.start()
        self.writer.start()
        self.drainer.start()
        self.workers.submit(lambda vault: load_word_vectors())
        if self.watcher:
            self.watcher.start()
        for lane in self.lanes:
            lane.start()

    def _end(self) -> None:
        for lane in self.lanes:
            lane.tell()
        self.drainer.close(HANDS_S)
        if self.watcher:
            self.watcher.close(HANDS_S)
        self.writer.close(HANDS_S)
        self.workers.close(HANDS_S)
        end_lanes(self.lanes)

    def _put_log_away(self) -> None:
        checkpoint_logs((self.vault, *self.dispatcher.named()))

    def _settings(self) -> Settings:
        from clawmem.app.settings.model import load_settings

        return load_settings(environ=self.environ)

    def _drain(self) -> None:
        try:
            self._work_off()
        finally:
            self._put_log_away()

    def _work_off(self) -> None:
        spool = Spool(self.vault)
        if not spool.waiting() or not self.vault.exists():
            return
        if failures := drained(self.vault, spool, self.environ, MODELS_S):
            raise JobsFailed("; ".join(failures))

    def _complains_of(self, name: str) -> Callable[[BaseException], None]:
        def complain(error: BaseException) -> None:
            with suppress(OSError):
                log_error(self.vault, name, error)

        return complain


def _line(workers: Workers) -> Line:
    return lambda work: workers.submit(lambda vault: work())
