from typing import NamedTuple, Protocol


class Lease(NamedTuple):
    """
    Lease on ``name`` held by ``holder`` until ``expires_ms`` (epoch milliseconds, exclusive).

    ``token`` is 16 random bytes in lower-case hex, new for each acquisition, so that a write guarded by the
    token of a stale holder is refused.
    """

    name: str
    holder: str
    token: str
    expires_ms: int


class LeaseStore(Protocol):
    """
    Durable leases that are safe across processes: at most one live holder per name.

    The caller passes all times, as epoch milliseconds; an implementation never reads a clock. Every method is
    atomic across processes and durable when it returns.
    """

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        """
        Acquire the lease *name* until ``now_ms + ttl_ms``; return ``None`` if another lease of that name is live.

        Succeeds if the name is free or its lease has expired (``expires_ms <= now_ms``), regardless of its holder. A
        live lease is refused to its own holder too. Each acquisition gets a new random token.

        Args:
            name: Name of the lease, for example ``"index"``.
            holder: Identifier unique per process, for example ``"host:pid:nonce"``.
            ttl_ms: Lifetime in milliseconds, > 0.
        """

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        """
        Return the live lease of *name*, regardless of its holder; ``None`` when it is free.

        A caller that knows that the holder is dead may pass the lease to `release`.
        """

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        """
        Extend a lease until ``now_ms + ttl_ms``, keeping its token.

        An expired lease can be renewed as long as no other holder acquired it, because then no other holder
        did any work.

        Raises:
            LeaseLost: the lease was released or taken over, even if the new holder has released it since.
        """

    def check(self, lease: Lease, *, now_ms: int) -> None:
        """
        Verify that *lease* is live and its token is current; call this fencing check before every side effect.

        Raises:
            LeaseLost: the lease is not live, or its token is not current.
        """

    def release(self, lease: Lease) -> None:
        """Release *lease* before it expires. A lost lease changes nothing and does not affect the new holder."""
