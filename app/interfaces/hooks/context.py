"""Context of a hook: its own process, or a server that keeps the vault open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from clawmem.app.environment.places import default_vault
from clawmem.app.interfaces.hooks.protocol import HookOutput, Offer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.hooks.spool import Spool


def _keep_to_oneself(output: HookOutput) -> None:
    """Discard an offer."""


class HookContext:
    """
    Dependencies of a hook: environment variables, the vault, and a receiver of provisional answers.

    This implementation is for a separate process: each access opens the vault and closes it afterwards.
    """

    def __init__(self, environ: Mapping[str, str], offer: Offer = _keep_to_oneself) -> None:
        self.environ = environ
        self.offer = offer

    @property
    def vault(self) -> Path:
        """The path of the vault, which may not exist."""
        return default_vault(self.environ)

    def services(self) -> AbstractContextManager[Services | None]:
        """Return a context manager for the services over the vault, opened for reading; ``None`` without a vault."""
        from clawmem.app.bootstrap.opening import hook_services

        return hook_services(self.environ)

    def writable(self) -> AbstractContextManager[Services]:
        """Return a context manager for the services over the existing vault, opened for writing."""
        from clawmem.app.bootstrap.opening import open_services
        from clawmem.app.settings.model import load_settings

        return open_services(load_settings(vault=self.vault, environ=self.environ), create=False)

    def work_off(self, spool: Spool) -> list[str]:
        """Process the jobs in *spool*, or have them processed; return a sentence for each known failure."""
        from clawmem.app.interfaces.hooks.capture import drained

        return drained(self.vault, spool, self.environ)


class DeferringContext(HookContext):
    """Context of a hook that shares its process with others: `process_deferred` processes the jobs of all at once."""

    deferred: Spool | None = None

    def work_off(self, spool: Spool) -> list[str]:
        """Defer the jobs in *spool*; return no failures."""
        self.deferred = spool
        return []


def process_deferred(contexts: Iterable[DeferringContext]) -> None:
    """
    Process the jobs that hooks deferred; the contexts belong to the same vault.

    Raises:
        JobsFailed: some jobs failed.
    """
    for context in contexts:
        if context.deferred:
            from clawmem.app.interfaces.hooks.spool import JobsFailed

            if failures := HookContext(context.environ).work_off(context.deferred):
                raise JobsFailed("; ".join(failures))
            return
