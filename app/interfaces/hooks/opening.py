"""Vaults opened for hooks: wired by hand, without the imports that other interfaces need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os.path import exists
from typing import TYPE_CHECKING

from clawmem.app.environment.places import vault_place

if TYPE_CHECKING:
    from clawmem.adapters.sqlite.vault import SqliteVault
    from clawmem.app.services.indexes.vault import ServedVault


@contextmanager
def records(environ: Mapping[str, str]) -> Iterator[SqliteVault | None]:
    """
    Yield the records of the vault that *environ* names, read-only; ``None`` without a vault.

    Errors of the vault are raised, for example a newer schema or a lock that outlasts the timeout. Settings of the
    working folder are ignored, because the user of a cloned repository has not chosen them.
    """
    place = vault_place(environ)
    if not exists(place):  # noqa: PTH110
        yield None
        return
    from clawmem.adapters.sqlite.vault import SqliteVault

    vault = SqliteVault(place, read_only=True)
    try:
        yield vault
    finally:
        vault.close()


@contextmanager
def writable_records(environ: Mapping[str, str]) -> Iterator[SqliteVault]:
    """Yield the records of an existing vault for small writes, without the vector extension."""
    from clawmem.adapters.sqlite.vault import SqliteVault

    vault = SqliteVault(vault_place(environ), vector_extension=False)
    try:
        yield vault
    finally:
        vault.close()


@contextmanager
def searchable(environ: Mapping[str, str]) -> Iterator[ServedVault | None]:
    """Yield the records with the indexes that serve them; ``None`` without a vault."""
    with records(environ) as found:
        yield served(found, environ) if found else None


def served(records: SqliteVault, environ: Mapping[str, str]) -> ServedVault:
    """Return *records* with the indexes that serve them."""
    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.bootstrap.backends import backend_named
    from clawmem.app.environment.process_identity import holder_id, is_gone
    from clawmem.app.services.indexes.engines import Engines
    from clawmem.app.services.indexes.indexer import Indexer
    from clawmem.app.services.indexes.vault import ServedVault

    folder = f"{records.location}.indexes"
    engines = Engines(backend_named, folder, read_only=True, options=_EngineOptions(environ))
    return ServedVault(records, engines, Indexer(records, SystemClock(), holder_id(), is_gone))


class _EngineOptions(Mapping[str, str]):
    """Engine options of the config file, loaded on first access: most engines never read them, and loading is slow."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._read: Mapping[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    @property
    def _options(self) -> Mapping[str, str]:
        if self._read is None:
            from clawmem.app.settings.model import load_settings

            self._read = load_settings(environ=self._environ).backend_options
        return self._read
