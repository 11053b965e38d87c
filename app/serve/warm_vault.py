"""The vault as a thread of the server keeps it open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.hooks.context import HookContext
from clawmem.app.hooks.opening import records, served
from clawmem.app.hooks.protocol import Offer
from clawmem.app.hooks.word_models import CachedModels
from clawmem.app.places import default_vault
from clawmem.ports.errors import ClawmemError

if TYPE_CHECKING:
    from clawmem.adapters.sqlite.vault import SqliteVault
    from clawmem.app.hooks.spool import Spool
    from clawmem.app.services.indexes.vault import ServedVault


class WarmVault:
    """
    The vault of *environ*, opened for reading when it is first asked for, and kept.

    For one thread: a connection belongs to who opened it. Opened anew when another file lies in its place, and
    after anything went wrong with it.
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
        """Its records; ``None`` where there is no vault. Raises like `clawmem.app.hooks.opening.records`."""
        with self._kept():
            yield self._records

    @contextmanager
    def served(self) -> Iterator[ServedVault | None]:
        """The same with whichever indexes serve it."""
        with self._kept():
            if self._served is None and self._records is not None:
                self._served = served(self._records, self._environ)
            yield self._served

    def warm_up(self) -> None:
        """Open it before anybody waits for it; whatever is wrong with it will be said to who asks."""
        with suppress(ClawmemError), self.served():
            return

    def close(self) -> None:
        """Close what is open."""
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


class Warm(HookContext):
    """What a hook is given in a server: the vault is open, and what takes long is somebody else's."""

    def __init__(
        self, environ: Mapping[str, str], offer: Offer, vault: WarmVault, later: Callable[[], None]
    ) -> None:
        super().__init__(environ, offer)
        self._warm = vault
        self._later = later

    @property
    def models(self) -> CachedModels:
        """Those that its thread has read."""
        return self._warm.models

    def records(self) -> AbstractContextManager[SqliteVault | None]:
        """Those that are open."""
        return self._warm.records()

    def searchable(self) -> AbstractContextManager[ServedVault | None]:
        """The vault that is open."""
        return self._warm.served()

    def work_off(self, spool: Spool) -> list[str]:
        """Nothing failed yet: nobody has begun."""
        self._later()
        return []


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
