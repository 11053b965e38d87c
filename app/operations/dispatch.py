"""Dispatch of operations to the threads of a long-running process, for the interfaces in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar
from weakref import WeakSet

from anyio import CapacityLimiter, to_thread

from clawmem.app.bootstrap.opening import open_services, unopened_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import file_identity, file_version
from clawmem.app.operations.operation import AnyOperation, Opening, Request
from clawmem.app.settings.model import Settings, of_vault
from clawmem.ports.errors import ClawmemError, FileUnusable, InvalidInput

T = TypeVar("T")
Work = Callable[[Services], T]

READERS = 4  # threads; a request that waits for a model or a disk blocks no other one
WAITING = 20  # requests that may wait for a thread; further ones are refused


class Busy(ClawmemError):
    """The task queue is full."""

    code = "BUSY"


class Dispatcher:
    """
    Threads that have vaults open, outside the event loop: several for reading, one for writing.

    A connection belongs to the thread that opened it. Each thread therefore caches its own vaults for reading, and opens
    one anew, with what *settings* returns then, when its file or the settings file changes. Each write opens the vault.
    """

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._load = settings
        self._readers, self._writer = CapacityLimiter(READERS), CapacityLimiter(1)
        self._stacks: WeakSet[ExitStack] = WeakSet()
        self._cache = _ThreadCache(self._stacks)

    def settings(self, vault: str | None = None) -> Settings:
        """Return the current settings of the vault called *vault*, by default the usual one."""
        return self._load() if vault is None else of_vault(self._load(), vault)

    async def in_thread(self, work: Callable[[], T], *, writes: bool = False) -> T:
        """Run *work* in a thread; a cancelled caller waits only if it *writes*. Raises `Busy` before it runs."""
        limiter = self._writer if writes else self._readers
        if limiter.statistics().tasks_waiting >= WAITING:
            raise Busy("The server has too many requests waiting. Try again in a moment.")
        return await to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=not writes)

    async def in_vault(
        self, work: Work[T], vault: str | None = None, *, writes: bool = False, create: bool = False
    ) -> T:
        """
        Run *work* with *vault* open for reading, by default the usual one. Raises its errors, `Busy` or `NotFound`.

        Work that *writes* has the vault open for writing, and completes even if the caller is cancelled.
        """

        def with_services() -> T:
            current = partial(self.settings, vault)
            opened = open_services(current(), create=create) if writes else self.services(current, vault)
            with opened as services:
                return work(services)

        return await self.in_thread(with_services, writes=writes)

    @contextmanager
    def services(self, settings: Callable[[], Settings], vault: str | None = None) -> Iterator[Services]:
        """Yield the services over *vault* that this thread has open, or opens with *settings*; anew after an error."""
        cache = self._cache
        try:
            version, services = cache.services.get(vault, (None, None))
            if services is None or version != _version_of(services.settings):
                cache.clear()
                current = settings()
                version = _version_of(current)
                services = cache.stack.enter_context(open_services(current, read_only=True))
                cache.services[vault] = version, services
            yield services
        except InvalidInput:
            raise
        except BaseException:  # the open vault may be unusable
            cache.clear()
            raise

    def close(self) -> None:
        """Close the cached vaults, except those that a request still uses."""
        for stack in [*self._stacks]:
            with suppress(Exception):  # in use by a thread that hangs
                stack.close()


class _ThreadCache(threading.local):
    """Open services of one thread by the name of the vault, with the version of the files they were opened from."""

    def __init__(self, stacks: WeakSet[ExitStack]) -> None:
        self.services: dict[str | None, tuple[object, Services]] = {}
        self.stack = ExitStack()
        stacks.add(self.stack)

    def clear(self) -> None:
        self.services.clear()
        self.stack.close()


def _version_of(settings: Settings) -> tuple[object, ...]:
    """Return a value that changes when the vault file is replaced or the settings file is edited."""
    return file_identity(settings.vault), file_version(settings.config_file)


async def run(
    dispatcher: Dispatcher, operation: AnyOperation, request: Request, caller: str, vault: str | None = None
) -> Any:
    """
    Run *operation* for the interface *caller*, and return its result.

    Raises its errors, those of `Dispatcher.in_vault`, and `FileUnusable`.
    """
    if operation.settings:
        operation.settings(dispatcher.settings(), request, caller)
    vault = getattr(request, "vault", vault)
    work: Work[Any] = lambda services: operation.run(services.called_by(caller), request)
    try:
        if operation.opens is Opening.NOTHING:
            return await to_thread.run_sync(work, unopened_services(dispatcher.settings()))
        writes, creates = not operation.changes_nothing(request), operation.opens is Opening.CREATED
        return await dispatcher.in_vault(work, vault, writes=writes, create=creates)
    except OSError as error:
        if error.strerror is None or error.filename is None:
            raise
        raise FileUnusable(error) from error
