"""Who does what is asked at any door: threads that keep the vault open for reading, and one that writes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clawmem.app.opened import open_services
from clawmem.app.vaults import of_vault
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.opened import Services
    from clawmem.app.settings import Settings

T = TypeVar("T")
Line = Callable[[Callable[[], Any]], "Future[Any]"]

READERS = 3  # a question waits for the disk and for C code that lets others run, little else


class Desk:
    """
    Answers with the services over a vault, away from the loop that talks to clients.

    A connection belongs to the thread that opened it, so every reader keeps one of its own, opened anew when the
    vault or its settings are other files than before. What writes has a vault opened for it alone.

    Args:
        settings: Reads the settings; asked again whenever a vault is opened.
        reading: Has a piece of work done by one of a few threads; without it the desk has threads of its own.
        writing: The same by a thread that does one piece after another.
    """

    def __init__(
        self, settings: Callable[[], Settings], reading: Line | None = None, writing: Line | None = None
    ) -> None:
        self._settings = settings
        self._own = ThreadPoolExecutor(READERS, "clawmem-read"), ThreadPoolExecutor(1, "clawmem-write")
        self._reading: Line = reading or self._own[0].submit
        self._writing: Line = writing or self._own[1].submit
        self._kept = _Kept()
        self._named: set[Path] = set()

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self._settings()

    def named(self) -> list[Path]:
        """The files of the vaults that were asked for by name until now."""
        return [*self._named]

    async def read(self, work: Callable[[Services], T], vault: str | None = None) -> T:
        """
        What *work* makes of the vault that is called *vault*, or of the usual one.

        Raises:
            NotFound: no vault is called so.
            ClawmemError: what *work* raises, or that the vault cannot be opened.
        """
        found: T = await asyncio.wrap_future(self._reading(lambda: self._look_up(work, vault)))
        return found

    async def write(
        self, work: Callable[[Services], T], vault: str | None = None, *, create: bool = False
    ) -> T:
        """
        The same, with the vault open for writing. Goes on to its end, whoever waits for it or not.

        Args:
            create: Whether a vault that is missing is made.
        """

        def do() -> T:
            with open_services(self._chosen(vault), create=create) as services:
                return work(services)

        done: T = await asyncio.shield(asyncio.wrap_future(self._writing(do)))
        return done

    def close(self) -> None:
        """Take on nothing more; what threads of its own have in hand goes on to its end."""
        for threads in self._own:
            threads.shutdown(wait=False)

    def _look_up(self, work: Callable[[Services], T], vault: str | None) -> T:
        try:
            return work(self._current(vault))
        except InvalidInput:
            raise
        except BaseException:  # whatever is wrong with what is open, the next question finds it opened anew
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


class _Kept(threading.local):
    """What a thread keeps open: services by the name of their vault, with the files that they were opened from."""

    def __init__(self) -> None:
        self.services: dict[str | None, tuple[object, Services]] = {}
        self.closing = ExitStack()

    def let_go(self) -> None:
        self.services.clear()
        self.closing.close()


def _files(settings: Settings) -> tuple[object, ...]:
    """What changes when another vault lies in the place of one, or its settings are edited."""
    return (_which(settings.vault)[:2], _which(settings.config_file))


def _which(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns
