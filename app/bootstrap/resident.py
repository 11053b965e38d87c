"""Profile ``resident``: vaults and models that the threads of a server keep open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.bootstrap.oneshot import PromptModels, read_only_with_indexes, records
from clawmem.app.environment.places import default_vault
from clawmem.ports.errors import ClawmemError, EmbeddingError

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.scheduling import NamedThreads
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.vault import Vault


def best_effort_writer(vault: Path) -> AbstractContextManager[None]:
    """Return a block in which all threads share one connection for best-effort writes to *vault*."""
    from clawmem.adapters.sqlite.best_effort import shared_writer

    return shared_writer(str(vault))


def checkpoint_logs(vaults: Iterable[Path]) -> None:
    """Move the write-ahead logs of *vaults* into their files."""
    from clawmem.adapters.sqlite.checkpoint import checkpoint_log

    for vault in vaults:
        checkpoint_log(str(vault))


def load_word_vectors() -> None:
    """Load the word vectors into the cache of the process, so that the first prompt need not wait for them."""
    from clawmem.adapters.models.static import StaticEmbedder

    with suppress(EmbeddingError):
        StaticEmbedder().embed_query("warm")


class CachedModels(PromptModels):
    """Models for many prompts: each is loaded once."""

    threads: NamedThreads

    def __init__(self) -> None:
        from clawmem.app.services.retrieval.scheduling import NamedThreads

        self.threads = NamedThreads()
        self._known: dict[str, Embedder | None] = {}

    def embedder_of(self, fingerprint: str, folder: Path) -> Embedder | None:
        """See `PromptModels.embedder_of`; a missing model is looked up again at each call."""
        if self._known.get(fingerprint) is None:
            self._known[fingerprint] = super().embedder_of(fingerprint, folder)
        return self._known[fingerprint]


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
        self._records: Vault | None = None
        self._served: Vault | None = None

    @contextmanager
    def records(self) -> Iterator[Vault | None]:
        """Yield the records; ``None`` if there is no vault. Raises like `clawmem.app.bootstrap.oneshot.records`."""
        with self._kept():
            yield self._records

    @contextmanager
    def served(self) -> Iterator[Vault | None]:
        """Yield the vault with the indexes that serve it; ``None`` if there is no vault."""
        with self._kept():
            if self._served is None and self._records is not None:
                self._served = read_only_with_indexes(self._records, self._environ).vault
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


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
