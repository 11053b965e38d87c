"""Context of a hook: its own process, or a server that keeps the vault open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from clawmem.app.environment.places import default_vault

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from clawmem.app.bootstrap.services import Services


class HookContext:
    """
    Dependencies of a hook. This implementation is for a separate process: each access opens and closes the vault.

    Args:
        environ: Environment variables of the client.
        offer: Receives provisional contexts; the last one is sent if the hook misses its deadline.
        later: Called after jobs were stored, to have them done; by default they are done at once.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        offer: Callable[[str], None] = lambda context: None,
        later: Callable[[], object] | None = None,
    ) -> None:
        self.environ, self.offer, self.later = environ, offer, later or self.do_jobs

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

    def do_jobs(self) -> None:
        """Do the stored jobs, unless another process does. Raises `JobsFailed`."""
        from clawmem.app.interfaces.hooks.capture import do_jobs

        do_jobs(self.vault, self.environ)
