"""Dispatcher for requests of all interfaces: threads that keep the vault open for reading, and one for writing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.settings.vaults import of_vault
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings

T = TypeVar("T")
Line = Callable[[Callable[[], Any]], "Future[Any]"]

READERS = 3  # requests mostly wait for the disk or for C code that releases the GIL


class Dispatcher:
    """
    Dispatcher that runs requests with the services over a vault, outside the event loop.

    A connection belongs to the thread that opened it. Each reader thread therefore caches its own connection and
    reopens it when the vault file or the settings file changes. Each write opens the vault for itself.

    Args:
        settings: Loads the settings; called whenever a vault is opened.
        reading: Submits work to one of several threads; by default the dispatcher uses its own threads.
        writing: Submits work to a single thread that runs one task at a time; by default its own.
    """

    def __init__(
        self, settings: Callable[[], Settings], reading: Line | None = None, writing: Line | None = None
    ) -> None:
        self._settings = settings
        self._own = ThreadPoolExecutor(READERS, "clawmem-read"), ThreadPoolExecutor(1, "clawmem-write")
        self._reading: Line = reading or self._own[0].submit
        self._writing: Line = writing or self._own[1].submit
        self._kept = _OpenServices()
        self._named: set[Path] = set()

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._settings()

    def named(self) -> list[Path]:
        """Return the files of the vaults that have been requested by name."""
        return [*self._named]

    async def read(self, work: Callable[[Services], T], vault: str | None = None) -> T:
        """
        Run *work* with the vault called *vault*, or the default vault, open for reading; return its result.

        Raises:
            NotFound: No vault has this name.
            ClawmemError: *work* raised it, or the vault cannot be opened.
        """
        found: T = await asyncio.wrap_future(self._reading(lambda: self._look_up(work, vault)))
        return found

    async def write(
        self, work: Callable[[Services], T], vault: str | None = None, *, create: bool = False
    ) -> T:
        """
        Run *work* with the vault open for writing; the work completes even if the caller is cancelled.

        Args:
            create: Whether to create a missing vault.
        """

        def do() -> T:
            with open_services(self._chosen(vault), create=create) as services:
                return work(services)

        done: T = await asyncio.shield(asyncio.wrap_future(self._writing(do)))
        return done

    def close(self) -> None:
        """Accept no more work; tasks already running in the dispatcher's own threads continue to their end."""
        for threads in self._own:
            threads.shutdown(wait=False)

    def _look_up(self, work: Callable[[Services], T], vault: str | None) -> T:
        try:
            return work(self._current(vault))
        except InvalidInput:
            raise
        except BaseException:  # the open vault may be unusable, so the next request reopens it
            self._kept.let_go()
            raise

    def _current(self, vault: str | None) -> Services:
        there = self._kept.services.get(vault)
        if there and there[0] == _files(there[1].settings):
            return there[1]
        if there:
            self._kept.let_go()
        settings = self._chosen(vault)
        files = _files(settings)
        services = self._kept.closing.enter_context(open_services(settings, read_only=True))
        self._kept.services[vault] = (files, services)
        return services

    def _chosen(self, vault: str | None) -> Settings:
        settings = self._settings()
        if vault is None:
            return settings
        chosen = of_vault(settings, vault)
        self._named.add(chosen.vault)
        return chosen


class _OpenServices(threading.local):
    """Per-thread cache of open services by vault name, with the identity of the files they were opened from."""

    def __init__(self) -> None:
        self.services: dict[str | None, tuple[object, Services]] = {}
        self.closing = ExitStack()

    def let_go(self) -> None:
        self.services.clear()
        self.closing.close()


def _files(settings: Settings) -> tuple[object, ...]:
    """Return a value that changes when the vault file is replaced or the settings file is edited."""
    return (_which(settings.vault)[:2], _which(settings.config_file))


def _which(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns
