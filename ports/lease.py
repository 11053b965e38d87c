from __future__ import annotations

from typing import Protocol

from clawmem.ports.records import Lease


class LeaseStore(Protocol):
    """
    Durable, process-safe leases: at most one live holder per name.

    Times are epoch milliseconds handed in by the caller; an implementation never reads a clock. Every
    method is atomic across processes and durable when it returns.
    """

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        """
        Claim *name* until ``now_ms + ttl_ms``.

        Succeeds when the name is free, or when its lease has expired (``expires_ms <= now_ms``), whoever had it: a
        live lease is refused to its own holder too. The token is drawn anew each time.

        Args:
            name: What is being claimed, for example ``"index"``.
            holder: Unique per process, for example ``"host:pid:nonce"``.
            ttl_ms: Lifetime in milliseconds, > 0.

        Returns:
            The lease, or ``None`` while one is live. ``None`` is normal, not an error.
        """
        ...

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        """
        The live lease of *name*, whoever holds it; ``None`` when it is free.

        Who knows that its holder is dead may give it back for it with `release`.
        """
        ...

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        """
        Let a lease last until ``now_ms + ttl_ms``, keeping its token.

        One that has expired is renewed as well while nobody else took it: nobody else can have worked.

        Raises:
            LeaseLost: it was released or taken over, though that be released again.
        """
        ...

    def check(self, lease: Lease, *, now_ms: int) -> None:
        """
        The fence: pass while *lease* is the live holder's, with its token; call it before every effect.

        Raises:
            LeaseLost: otherwise.
        """
        ...

    def release(self, lease: Lease) -> None:
        """Give *lease* back early. One that was lost changes nothing and does not disturb the new holder."""
        ...
