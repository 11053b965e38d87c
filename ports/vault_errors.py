"""Errors of a vault file that cannot be used, and of an index that the records stood in for."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.ports.errors import ClawmemError, IndexUnavailable, VaultDamaged, VaultError
from clawmem.ports.records import Hit


class NotAVault(VaultDamaged):
    """A path that leads to something else than a vault; it was left as it is."""

    code = "NOT_A_VAULT"

    def __init__(self, path: str, reason: str, remedy: str = "") -> None:
        self.reason = reason
        more = f" {remedy}" if remedy else ""
        VaultError.__init__(
            self,
            path,
            f"{path} is not a vault of clawmem: {reason}. Nothing was changed. "
            f"Check the path, or choose another --vault.{more}",
        )


class VaultTooNew(VaultError):
    """The schema was written by a later clawmem than this one."""

    code = "VAULT_TOO_NEW"

    def __init__(self, path: str, found: int, known: int) -> None:
        self.found = found
        self.known = known
        super().__init__(
            path, f"{path} has schema {found}, this clawmem knows {known}. Run: pip install --upgrade clawmem"
        )


class IndexBypassed(IndexUnavailable):
    """The index that serves could not answer, so the records did: ``partial`` is their whole answer."""

    def __init__(self, place: str, cause: ClawmemError, answer: Sequence[Hit]) -> None:
        self.reason = str(cause)
        self.partial = tuple(answer)
        VaultError.__init__(self, place, f"The records answered instead of the index. {cause}")
