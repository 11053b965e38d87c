"""Dispatch of operations to the threads of a long-running process, for the interfaces in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from anyio import to_thread

from clawmem.app.operations.operation import AnyOperation, Opening, Request
from clawmem.app.services.progress import ProgressOf, no_progress
from clawmem.ports.errors import ClawmemError

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.settings.model import Settings

T = TypeVar("T")


class Busy(ClawmemError):
    """The task queue is full."""

    code = "BUSY"

    def __init__(self) -> None:
        super().__init__("The server has too many requests waiting. Try again in a moment.")


class Dispatcher(Protocol):
    """
    Threads that have vaults open: several for reading, one for writing.

    Work that writes completes even if its caller is cancelled.
    """

    @property
    def settings(self) -> Settings:
        """The current settings."""

    async def read(self, work: Callable[[Services], T], vault: str | None = None) -> T:
        """Run *work* with the vault called *vault*, by default the usual one, open for reading."""

    async def write(
        self, work: Callable[[Services], T], vault: str | None = None, *, create: bool = False
    ) -> T:
        """Run *work* with the vault open for writing; a missing vault is created only with *create*."""


async def run(
    dispatcher: Dispatcher,
    operation: AnyOperation,
    request: Request,
    *,
    caller: str,
    vault: str | None = None,
    progress: ProgressOf = no_progress,
) -> Any:
    """
    Run *operation* for the interface *caller*, and return its result.

    Raises:
        NotFound: No vault is called *vault*.
        ClawmemError: The operation raised it, or the vault cannot be opened.
    """
    if operation.settings:
        operation.settings(dispatcher.settings, request, caller)
    vault = getattr(request, "vault", vault)

    def work(services: Services) -> Any:
        return operation.run(services.called_by(caller, progress), request)

    if operation.opens is Opening.NOTHING:
        from clawmem.app.bootstrap.opening import unopened_services

        return await to_thread.run_sync(work, unopened_services(dispatcher.settings))
    if operation.changes_nothing(request):
        return await dispatcher.read(work, vault)
    return await dispatcher.write(work, vault, create=operation.opens is Opening.CREATED)
