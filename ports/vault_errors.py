"""Errors of the path of a vault."""

from __future__ import annotations

from clawmem.ports.errors import VaultDamaged, VaultError


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
