from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class ForgottenPlace(NamedTuple):
    """Collection and path of a forgotten document, and the time at which it was forgotten."""

    collection: str
    path: str
    at: str


class ForgetLog(Protocol):
    """Append-only log of the places of forgotten documents, stored outside the vault so that it outlives the vault."""

    def places(self) -> list[ForgottenPlace]:
        """Return every place once, in the order of forgetting; unreadable lines are skipped."""
        ...

    def add(self, places: Iterable[ForgottenPlace]) -> None:
        """
        Append places durably; does nothing if *places* is empty.

        Raises:
            VaultFull, VaultReadOnly: the places could not be written.
        """
        ...


class NoForgetLog:
    """Forget log without storage, for vaults that exist only in memory."""

    def places(self) -> list[ForgottenPlace]:
        """Return an empty list."""
        return []

    def add(self, places: Iterable[ForgottenPlace]) -> None:
        """Do nothing."""
