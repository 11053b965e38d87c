from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from clawmem.ports.digests import sha256


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
        ...

    def holds(self, hash: str) -> bool:
        """Whether the body with this hash was forgotten."""
        ...


def forgotten_text(salt: str, hash: str) -> ForgottenText:
    """Return the fingerprint of the body with this *hash*."""
    return ForgottenText(salt, sha256(f"{salt}:{hash}".encode()).hexdigest())
