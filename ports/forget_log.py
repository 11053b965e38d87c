from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class ForgottenPlace(NamedTuple):
    """Where a forgotten document was, and when it was forgotten."""

    collection: str
    path: str
    at: str


class ForgetLog(Protocol):
    """The places of forgotten documents, kept outside of the vault: they outlive it. It only grows."""

    def places(self) -> list[ForgottenPlace]:
        """Every place once, the first forgotten one first; a line that cannot be read is left out."""
        ...

    def add(self, places: Iterable[ForgottenPlace]) -> None:
        """
        Write places down, durable when this returns; nothing happens without any.

        Raises:
            VaultFull, VaultReadOnly: they could not be written.
        """
        ...


class NoForgetLog:
    """Remembers nothing: for vaults that exist only in memory."""

    def places(self) -> list[ForgottenPlace]:
        """Nothing."""
        return []

    def add(self, places: Iterable[ForgottenPlace]) -> None:
        """Nothing happens."""
