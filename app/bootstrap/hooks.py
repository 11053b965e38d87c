"""Services of hooks: opened for one event of a short process, or kept open by a thread of the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from clawmem.app.bootstrap.opening import close, container_of
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import default_vault
from clawmem.app.settings.model import load_settings
from clawmem.ports.errors import ClawmemError, EmbeddingError


@contextmanager
def hook_services(environ: Mapping[str, str]) -> Iterator[Services | None]:
    """
    Yield the services over the vault that *environ* names, opened for reading; ``None`` without a vault.

    Errors of the vault are raised, for example a newer schema or a lock that outlasts the timeout. Settings of the
    working folder are ignored, because the user of a cloned repository has not chosen them.
    """
    if not default_vault(environ).exists():
        yield None
        return
    container = container_of(load_settings(environ=environ, lenient=True), read_only=True)
    try:
        container.gateways.records()
        yield Services(container)
    finally:
        close(container)


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
            file = _identity(self._path)
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


def load_word_vectors() -> None:
    """Load the word vectors into the cache of the process, so that the first prompt need not wait for them."""
    from clawmem.adapters.models.static import StaticEmbedder

    with suppress(EmbeddingError):
        StaticEmbedder().embed_query("warm")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
