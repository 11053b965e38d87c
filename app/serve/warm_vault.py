"""Open vault cached by a thread of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.environment.places import default_vault
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.opening import records, served
from clawmem.app.interfaces.hooks.protocol import Offer
from clawmem.app.interfaces.hooks.word_models import CachedModels
from clawmem.ports.errors import ClawmemError

if TYPE_CHECKING:
    from clawmem.adapters.sqlite.vault import SqliteVault
    from clawmem.app.interfaces.hooks.spool import Spool
    from clawmem.app.services.indexes.vault import ServedVault


class WarmVault:
    """
    Vault of *environ*, opened for reading on first use and then cached.

    For use by one thread only, because a connection belongs to the thread that opened it. The vault is reopened when
    its file has been replaced and after any error.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.models = CachedModels()
        self._environ = environ
        self._path = default_vault(environ)
        self._open = ExitStack()
        self._file: tuple[int, int] | None = None
        self._records: SqliteVault | None = None
        self._served: ServedVault | None = None

    @contextmanager
    def records(self) -> Iterator[SqliteVault | None]:
        """Yield the records; ``None`` if there is no vault. Raises like `clawmem.app.interfaces.hooks.opening.records`."""
        with self._kept():
            yield self._records

    @contextmanager
    def served(self) -> Iterator[ServedVault | None]:
        """Yield the vault with the indexes that serve it; ``None`` if there is no vault."""
        with self._kept():
            if self._served is None and self._records is not None:
                self._served = served(self._records, self._environ)
            yield self._served

    def warm_up(self) -> None:
        """Open the vault in advance; errors are ignored here and raised again on the first request."""
        with suppress(ClawmemError), self.served():
            return

    def close(self) -> None:
        """Close the vault and the thread pool of the models."""
        self._records = self._served = self._file = None
        self._open.close()
        self.models.threads.close()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            self._renew()
            yield
        except BaseException:
            self.close()
            raise

    def _renew(self) -> None:
        file = _identity(self._path)
        if file == self._file:
            return
        self.close()
        self._records = self._open.enter_context(records(self._environ))
        self._file = file


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

    def records(self) -> AbstractContextManager[SqliteVault | None]:
        """Return a context manager for the open records."""
        return self._warm.records()

    def searchable(self) -> AbstractContextManager[ServedVault | None]:
        """Return a context manager for the open vault with its indexes."""
        return self._warm.served()

    def work_off(self, spool: Spool) -> list[str]:
        """Defer the spooled jobs to the background; return no failures."""
        self._later()
        return []


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
