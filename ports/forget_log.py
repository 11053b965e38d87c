from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from clawmem.ports.digests import sha256


class ForgottenPlace(NamedTuple):
    """Collection and path of a forgotten document, and the time at which it was forgotten."""

    collection: str
    path: str
    at: str


class ForgetRecord(NamedTuple):
    """
    Content of a forget log: every readable place once, the first forgotten one first.

    ``is_damaged`` reports that places may be missing.
    """

    places: Sequence[ForgottenPlace] = ()
    is_damaged: bool = False


class ForgetLog(Protocol):
    """Log of the places of forgotten documents, stored outside the vault so that it outlives the vault."""

    @property
    def location(self) -> str:
        """The path of the log, for messages."""

    def read(self) -> ForgetRecord:
        """
        Return what the log holds; an empty record if there is no log.

        Raises:
            VaultReadOnly: the log cannot be read.
        """

    def write(self, places: Iterable[ForgottenPlace]) -> None:
        """
        Replace the log by *places* in one step, durable when this returns. Only one process may write at a time.

        Raises:
            VaultFull, VaultReadOnly: the log could not be written, and is as it was.
        """

    def set_aside(self) -> None:
        """
        Rename the log, so that a copy of what is damaged stays; see `damaged_copies`.

        Raises:
            VaultFull, VaultReadOnly: the log could not be renamed.
        """

    def damaged_copies(self) -> list[str]:
        """Return the paths of damaged logs that were set aside and not deleted since."""


class ForgottenText(NamedTuple):
    """
    Fingerprint of a forgotten body: a salt, and a salted digest of the hash of the body.

    It identifies an identical body, and the body cannot be reconstructed from it. It refers to no other
    record, so it can be copied into another vault.
    """

    salt: str
    digest: str


class ForgottenTexts(Protocol):
    """Fingerprints of bodies forgotten on request. Append-only; part of the vault's transactions."""

    def add(self, hashes: Iterable[str]) -> None:
        """Store the fingerprints of bodies by their hash; a second call with the same hash changes nothing."""

    def holds(self, hash: str) -> bool:
        """Whether the body with this hash was forgotten."""


def forgotten_text(salt: str, hash: str) -> ForgottenText:
    """Return the fingerprint of the body with this *hash*."""
    return ForgottenText(salt, sha256(f"{salt}:{hash}".encode()).hexdigest())
