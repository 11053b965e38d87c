"""Runtime of the server behind its interfaces: worker threads over the vault, and background threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.bootstrap.resident import WarmVault, best_effort_writer, checkpoint_logs, load_word_vectors
from clawmem.app.client.hook_registry import SESSION_VARIABLES
from clawmem.app.interfaces.hooks.capture import drained
from clawmem.app.interfaces.hooks.runner import log_error
from clawmem.app.interfaces.hooks.spool import JobsFailed, Spool
from clawmem.app.serve.background import Drainer, WatcherThread, end_lanes, lane_threads
from clawmem.app.serve.dispatcher import Dispatcher, Line
from clawmem.app.serve.hook_handler import HookHandler
from clawmem.app.serve.workers import Workers

if TYPE_CHECKING:
    from clawmem.app.settings.model import Settings

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
