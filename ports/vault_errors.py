"""Errors of unusable vault files, and of an index that the records replaced for one answer."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.ports.errors import ClawmemError, IndexUnavailable, VaultDamaged, VaultError
from clawmem.ports.records import Hit


class NotAVault(VaultDamaged):
    """The path leads to something other than a vault; it was left unchanged."""

    code = "NOT_A_VAULT"

    def __init__(self, path: str, reason: str, remedy: str = "") -> None:
        self.reason = reason
        more = f" {remedy}" if remedy else ""
        VaultError.__init__(
            self,
            path,
            f"{path} is not a clawmem vault: {reason}. Nothing was changed. "
            f"Check the path, or choose another --vault.{more}",
        )


class ExtensionMissing(VaultError):
    """The SQLite extension sqlite-vec, which reads vectors, cannot be loaded."""

    code = "EXTENSION_MISSING"

    def __init__(self, path: str, reason: str) -> None:
        self.reason = reason
        super().__init__(
            path,
            f"{path} cannot be opened: SQLite cannot load the extension sqlite-vec ({reason}). "
            "Run: pip install --force-reinstall sqlite-vec",
        )


class VaultTooNew(VaultError):
    """The schema was written by a newer clawmem."""

    code = "VAULT_TOO_NEW"

    def __init__(self, path: str, found: int, known: int) -> None:
        self.found = found
        self.known = known
        super().__init__(
            path,
            f"{path} has schema {found}, newer than this clawmem supports ({known}). "
            "Run: pip install --upgrade clawmem",
        )


class VaultOfDevelopment(VaultError):
    """A clawmem of before the first release wrote the vault."""

    code = "VAULT_OF_DEVELOPMENT"

    def __init__(self, path: str) -> None:
        super().__init__(
            path,
            f"A development version of clawmem wrote {path}: export its memories with that version (clawmem export), "
            "move the file away, and make the vault again from your notes with: clawmem bootstrap FOLDER",
        )


class IndexBypassed(IndexUnavailable):
    """The serving index failed, so the records answered instead: ``partial`` is their complete answer."""

    def __init__(self, place: str, cause: ClawmemError, answer: Sequence[Hit]) -> None:
        self.reason = str(cause)
        self.partial = tuple(answer)
        VaultError.__init__(self, place, f"The records answered instead of the index. {cause}")
