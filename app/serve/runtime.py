"""Runtime of the server behind its interfaces: worker threads over the vault, hook events, and background threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from anyio import move_on_after

from clawmem.app.bootstrap.container import Gateways
from clawmem.app.bootstrap.lazy import lazy
from clawmem.app.bootstrap.opening import hook_services
from clawmem.app.client.hook_registry import EVENTS, HOOKS, SESSION_VARIABLES, call_named
from clawmem.app.client.request import CHOICES, OPTIONAL_HOOKS_VARIABLE
from clawmem.app.environment.places import default_vault
from clawmem.app.interfaces.hooks.capture import drained
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput, Offer, joined, read_event
from clawmem.app.interfaces.hooks.runner import call, log_error
from clawmem.app.interfaces.hooks.spool import JobsFailed, Spool
from clawmem.app.operations.dispatch import Busy
from clawmem.app.serve.background import BackgroundThread, at_work, lane_threads, watcher_thread
from clawmem.app.serve.dispatcher import Dispatcher
from clawmem.app.settings.model import load_settings
from clawmem.ports.errors import ClawmemError, EmbeddingError, NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings

ON_THE_WAY_S = 0.3  # part of the client's deadline reserved for the transfer


class WarmVault:
    """
    Services over the vault of *environ*, opened for reading on first use and then kept open.

    For use by one thread only, because a connection belongs to the thread that opened it. The vault is reopened when
    its file has been replaced and after any error.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._path = default_vault(environ)
        self._file: tuple[int, int] | None = None
        self._opened = hook_services(environ)
        self._services: Services | None = None

    @contextmanager
    def services(self) -> Iterator[Services | None]:
        """Yield the services; ``None`` if there is no vault. Raises like `hook_services`."""
        try:
            file = identity(self._path)
            if file != self._file:
                self.close()
                self._opened = hook_services(self._environ)
                self._services = self._opened.__enter__()
                self._file = file
            yield self._services
        except BaseException:
            self.close()
            raise

    def warm_up(self) -> None:
        """Open the vault in advance; errors are ignored here and raised again on the first request."""
        with suppress(ClawmemError), self.services() as services:
            if services:
                services.vault  # noqa: B018  imports the indexes

    def close(self) -> None:
        """Close the vault."""
        if self._services:
            self._opened.__exit__(None, None, None)
        self._services = self._file = None


def identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class HookHandler:
    """
    Handler of hook events for the vault that *environ* names.

    Args:
        later: Called when an event leaves jobs for the background.
    """

    def __init__(self, dispatcher: Dispatcher, environ: Mapping[str, str], later: Callable[[], None]) -> None:
        self._dispatcher = dispatcher
        self._environ = environ
        self._later = later
        self._opened: WeakSet[WarmVault] = WeakSet()
        self._local = _ThreadVault(environ, self._opened)

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
        try:
            return joined(outputs).render(called.event)
        except Exception:  # noqa: BLE001  output that cannot be rendered
            return SILENCE.render(called.event)

    def close(self) -> None:
        """Close the vaults of the threads, except those that an event still uses."""
        for vault in [*self._opened]:
            with suppress(Exception):  # in use by a thread that hangs
                vault.close()

    async def _output_of(self, name: str, event: HookEvent, environ: Mapping[str, str]) -> HookOutput:
        """Return the output of the hook *name*: the last one that it offered before its deadline."""
        offers = [SILENCE]

        def work() -> HookOutput:
            return call(name, event, ResidentContext(environ, offers.append, self._local.vault, self._later))

        try:
            with move_on_after(HOOKS[name].deadline_s - ON_THE_WAY_S):
                return await self._dispatcher.in_thread(work)
        except Busy:
            raise
        except Exception as error:  # noqa: BLE001  a client always gets an answer
            with suppress(OSError):
                log_error(default_vault(environ), name, error)
            return SILENCE
        return offers[-1]

    def _chosen(self, choices: Mapping[str, str] | None) -> Mapping[str, str]:
        if choices is None:
            return self._environ
        own = {name: value for name, value in self._environ.items() if name not in CHOICES}
        return {**own, **{name: value for name, value in choices.items() if name in CHOICES}}


class _ThreadVault(threading.local):
    """Vault of one thread for hooks."""

    def __init__(self, environ: Mapping[str, str], opened: WeakSet[WarmVault]) -> None:
        self.vault = WarmVault(environ)
        opened.add(self.vault)


class ResidentContext(HookContext):
    """Hook context inside a server: it uses the thread's open vault and defers slow jobs to the background."""

    def __init__(
        self, environ: Mapping[str, str], offer: Offer, vault: WarmVault, later: Callable[[], None]
    ) -> None:
        super().__init__(environ, offer)
        self._warm = vault
        self._later = later

    def services(self) -> AbstractContextManager[Services | None]:
        """Return a context manager for the open services."""
        return self._warm.services()

    def work_off(self, spool: Spool) -> list[str]:
        """Defer the spooled jobs to the background; return no failures."""
        self._later()
        return []


def load_word_vectors() -> None:
    """Load the word vectors into the cache of the process, so that the first prompt need not wait for them."""
    with suppress(EmbeddingError):
        lazy("adapters.models.static:StaticEmbedder")().embed_query("warm")


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
        self.dispatcher = Dispatcher(lambda: load_settings(environ=self.environ))
        self.drainer = BackgroundThread("drain", self._drain, self._complains_of("drain"), is_job=True)
        self.hooks = HookHandler(self.dispatcher, self.environ, self.drainer.wake)
        self.watcher = watcher_thread(watched, self._complains_of("watch")) if watched else None
        self.lanes = lane_threads(upkept, self._complains_of("lanes"))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run the background threads inside the block; at its end wait a limited time for tasks in progress."""
        threads = [self.drainer, *([self.watcher] if self.watcher else []), *self.lanes]
        with at_work(threads):
            threading.Thread(target=load_word_vectors, daemon=True).start()
            yield
        self.hooks.close()
        self.dispatcher.close()
        self._put_log_away()

    def _put_log_away(self) -> None:
        for vault in (self.vault, *self.dispatcher.named()):
            Gateways.checkpoint_log(str(vault))

    def _drain(self, stop: threading.Event) -> None:
        try:
            spool = Spool(self.vault)
            if not spool.waiting() or not self.vault.exists():
                return
            if failures := drained(self.vault, spool, self.environ, MODELS_S):
                raise JobsFailed("; ".join(failures))
        finally:
            self._put_log_away()

    def _complains_of(self, name: str) -> Callable[[BaseException], None]:
        def complain(error: BaseException) -> None:
            with suppress(OSError):
                log_error(self.vault, name, error)

        return complain
