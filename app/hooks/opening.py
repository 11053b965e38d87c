"""The vault as a hook opens it: for reading, by hand, without what the other doors bring along."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clawmem.app.places import default_vault

if TYPE_CHECKING:
    from clawmem.adapters.sqlite.vault import SqliteVault
    from clawmem.app.services.indexes.vault import ServedVault


@contextmanager
def records() -> Iterator[SqliteVault | None]:
    """
    The records of the vault that the environment names; ``None`` where there is none.

    Whether it can be read at all is the vault's to say: one that a later clawmem wrote, or that is locked for
    longer than anybody waits, raises. Neither the working folder's ``.env`` nor anything else of a project counts
    here: who clones a repository has not chosen what it says.
    """
    path = default_vault(os.environ)
    if not path.exists():
        yield None
        return
    from clawmem.adapters.sqlite.vault import SqliteVault

    vault = SqliteVault(str(path), read_only=True)
    try:
        yield vault
    finally:
        vault.close()


@contextmanager
def writable_records() -> Iterator[SqliteVault]:
    """The records for writing, a little; the vault is there."""
    from clawmem.adapters.sqlite.vault import SqliteVault

    vault = SqliteVault(str(default_vault(os.environ)), vector_extension=False)
    try:
        yield vault
    finally:
        vault.close()


@contextmanager
def searchable() -> Iterator[ServedVault | None]:
    """The same with whichever indexes serve it."""
    with records() as found:
        if found is None:
            yield None
            return
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.adapters.system.holder import holder_id, is_gone
        from clawmem.app.backends import backend_named
        from clawmem.app.services.indexes.engines import Engines
        from clawmem.app.services.indexes.indexer import Indexer
        from clawmem.app.services.indexes.vault import ServedVault

        engines = Engines(backend_named, f"{found.info().location}.indexes", read_only=True, options={})
        yield ServedVault(found, engines, Indexer(found, SystemClock(), holder_id(), is_gone))
