"""Dispatcher for requests of all interfaces: a few threads read with their open vaults, one at a time writes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from anyio import CapacityLimiter, to_thread

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.operations.dispatch import Busy
from clawmem.app.settings.vaults import of_vault
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings

T = TypeVar("T")

READERS = 4  # threads; a request that waits for a model or a disk blocks no other one
WAITING = 20  # requests that may wait for a thread; further ones are refused


class Dispatcher:
    """
    Dispatcher that runs requests with the services over a vault, outside the event loop.

    A connection belongs to the thread that opened it. Each thread therefore caches its own vaults for reading, and
    reopens one when its file or the settings file changes. Each write opens the vault for itself.

    Args:
        settings: Loads the settings; called whenever a vault is opened.
    """

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self._readers, self._writer = CapacityLimiter(READERS), CapacityLimiter(1)
        self._opened: WeakSet[ExitStack] = WeakSet()
        self._cache = _ThreadCache(self._opened)
        self._named: set[Path] = set()

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._settings()

    def named(self) -> list[Path]:
        """Return the files of the vaults that have been requested by name."""
        return [*self._named]

    async def in_thread(self, work: Callable[[], T]) -> T:
        """
        Run *work* in one of the threads for reading, and return its result; a cancelled caller does not wait for it.

        Raises:
            Busy: Too many requests wait; *work* will not run.
        """

        _refuse_if_full(self._readers)
        return await to_thread.run_sync(work, limiter=self._readers, abandon_on_cancel=True)

    async def read(self, work: Callable[[Services], T], vault: str | None = None) -> T:
        """
        Run *work* with the vault called *vault*, or the default vault, open for reading; return its result.

        Raises:
            Busy: Too many requests wait.
            NotFound: No vault has this name.
            ClawmemError: *work* raised it, or the vault cannot be opened.
        """

        def with_cached() -> T:
            try:
                return work(self._cached(vault))
            except InvalidInput:
                raise
            except BaseException:  # the open vault may be unusable, so the next request reopens it
                self._cache.clear()
                raise

        return await self.in_thread(with_cached)

    async def write(
        self, work: Callable[[Services], T], vault: str | None = None, *, create: bool = False
    ) -> T:
        """
        Run *work* with the vault open for writing; the work completes even if the caller is cancelled.

        Args:
            create: Whether to create a missing vault.

        Raises:
            Busy: Too many writes wait.
            ClawmemError: *work* raised it, or the vault cannot be opened.
        """

        def with_opened() -> T:
            with open_services(self._chosen(vault), create=create) as services:
                return work(services)

        _refuse_if_full(self._writer)
        return await to_thread.run_sync(with_opened, limiter=self._writer)

    def close(self) -> None:
        """Close the cached vaults, except those that a request still uses."""
        for stack in [*self._opened]:
            with suppress(Exception):  # in use by a thread that hangs
                stack.close()

    def _cached(self, vault: str | None) -> Services:
        known = self._cache.services.get(vault)
        if known and known[0] == _identity(known[1].settings):
            return known[1]
        if known:
            self._cache.clear()
        settings = self._chosen(vault)
        identity = _identity(settings)
        services = self._cache.stack.enter_context(open_services(settings, read_only=True))
        self._cache.services[vault] = (identity, services)
        return services

    def _chosen(self, vault: str | None) -> Settings:
        settings = self._settings()
        if vault is None:
            return settings
        chosen = of_vault(settings, vault)
        self._named.add(chosen.vault)
        return chosen


class _ThreadCache(threading.local):
    """Open services of one thread by the name of the vault, with the identity of the files they were opened from."""

    def __init__(self, opened: WeakSet[ExitStack]) -> None:
        self.services: dict[str | None, tuple[object, Services]] = {}
        self.stack = ExitStack()
        opened.add(self.stack)

    def clear(self) -> None:
        self.services.clear()
        self.stack.close()


def _refuse_if_full(limiter: CapacityLimiter) -> None:
    if limiter.statistics().tasks_waiting >= WAITING:
        raise Busy


def _identity(settings: Settings) -> tuple[object, ...]:
    """Return a value that changes when the vault file is replaced or the settings file is edited."""
    return (_stamp(settings.vault)[:2], _stamp(settings.config_file))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns
