from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from clawmem.ports.digests import sha256


class ForgottenText(NamedTuple):
    """
    The mark of a forgotten body: a salt and a salted digest of the hash of the body.

    It recognises an identical body, and nothing of the body can be read from it. It needs no other record, so it can
    be copied into another vault.
    """

    salt: str
    digest: str


class ForgottenTexts(Protocol):
    """Marks of bodies that were forgotten on request. Part of the vault's transactions; it only grows."""

    def add(self, hashes: Iterable[str]) -> None:
        """Remember bodies by their hash; a second time changes nothing."""
        ...

    def holds(self, hash: str) -> bool:
        """Whether the body with this hash was forgotten."""
        ...


def forgotten_text(salt: str, hash: str) -> ForgottenText:
    """Return the mark of the body with this *hash*."""
    return ForgottenText(salt, sha256(f"{salt}:{hash}".encode()).hexdigest())
