"""Repair of a damaged vault: a new vault is built from its readable records."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from clawmem.app.services.documents.listing import pages
from clawmem.app.services.indexes.vault import ServedVault
from clawmem.app.services.indexing.publish import publish
from clawmem.domain.documents.fragments import fragment
from clawmem.ports.clock import Clock
from clawmem.ports.records import Role
from clawmem.ports.salvage import SalvageReport


class Rescue(NamedTuple):
    """
    Operations on vault files.

    ``salvage`` copies the readable records of an old vault to a new one, ``held`` keeps writers out of a vault,
    ``exchange`` replaces an old vault with a new one, and ``discard`` deletes a vault.
    """

    salvage: Callable[[str, str], SalvageReport]
    held: Callable[[str], AbstractContextManager[None]]
    exchange: Callable[[str, str, str], None]
    discard: Callable[[str], None]


class Repair:
    """Repairs the vault at path *vault*. It never opens the vault itself, which may be too damaged for that."""

    def __init__(self, vault: str, clock: Clock, rescue: Rescue) -> None:
        self._vault = vault
        self._clock = clock
        self._rescue = rescue
        self._new = f"{vault}.repaired"

    def preview(self) -> SalvageReport:
        """Return the records that can be read; nothing changes."""
        self._rescue.discard(self._new)
        try:
            return self._rescue.salvage(self._vault, self._new)
        finally:
            self._rescue.discard(self._new)

    def __call__(self) -> tuple[SalvageReport, str]:
        """
        Replace the damaged vault with a new one; return the fate of its records and the path of the damaged vault.

        Raises:
            VaultLocked: another process is writing; nothing changed.
            VaultError: nothing changed.
        """
        kept = f"{self._vault}.damaged-{self._clock.now_ms()}"
        self._rescue.discard(self._new)
        try:
            with self._rescue.held(self._vault):
                salvaged = self._rescue.salvage(self._vault, self._new)
            self._rescue.exchange(self._vault, self._new, kept)
        finally:
            self._rescue.discard(self._new)
        return salvaged, kept


def split_again(vault: ServedVault) -> None:
    """Split every text that comes from no file into fragments again; an index run restores those of files."""
    for page in pages(vault.documents):
        with vault.writing():
            for document in page:
                body = vault.documents.body(document.id)
                if document.stamp is None and body is not None:
                    parts = fragment(body, title=document.title, date=document.authored_at[:10])
                    publish(vault, document, body, parts, declared=None)


def rebuild_all(vault: ServedVault) -> None:
    """Rebuild every index from the records."""
    for role in Role:
        vault.rebuild(role)
    vault.keep_up()
