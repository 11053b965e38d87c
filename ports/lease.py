from typing import NamedTuple, Protocol


class Lease(NamedTuple):
    """
    Lease on ``name`` held by ``holder`` until ``expires_ms`` (epoch milliseconds, exclusive).

    ``token`` is 16 random bytes in lower-case hex, new for each acquisition: a write with a stale token is refused.
    """

    name: str
    holder: str
    token: str
    expires_ms: int


class LeaseStore(Protocol):
    """
    Durable leases: at most one live holder per name.

    The caller passes all times, as epoch milliseconds. Every method is atomic across processes and durable when it
    returns.
    """

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        """
        Acquire *name* until ``now_ms + ttl_ms`` if it is free or expired (``expires_ms <= now_ms``); else ``None``.

        A live lease is refused to its own holder too.

        Args:
            holder: Identifier unique per process, for example ``"host:pid:nonce"``.
        """

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        """Return the live lease of *name*, for example to `release` that of a dead process; ``None`` if it is free."""

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        """
        Extend a lease until ``now_ms + ttl_ms``, keeping its token; also an expired one that nobody acquired since.

        Raises:
            LeaseLost: the lease was released or taken over, even if the new holder has released it since.
        """

    def check(self, lease: Lease, *, now_ms: int) -> None:
        """Raise LeaseLost unless *lease* is live and its token is current; call this before every side effect."""

    def release(self, lease: Lease) -> None:
        """Release *lease* before it expires. A lost lease changes nothing and does not affect the new holder."""
