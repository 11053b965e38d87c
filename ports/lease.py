from typing import NamedTuple, Protocol


class Lease(NamedTuple):
    """Lease on ``name`` until ``expires_ms`` (exclusive), with a random token of its own for each acquisition."""

    name: str
    holder: str
    token: str
    expires_ms: int


class LeaseStore(Protocol):
    """Durable leases, one live holder per name. The caller passes the time; methods are atomic across processes."""

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        """
        Acquire *name* until ``now_ms + ttl_ms`` if it is free or expired (``expires_ms <= now_ms``); else ``None``.

        A live lease is refused to its own holder too. *holder* is unique per process, such as ``"host:pid:nonce"``.
        """

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        """Return the live lease of *name*, for example to `release` that of a dead process; ``None`` if it is free."""

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        """
        Extend a lease, also an expired one that nobody acquired since, keeping its token; otherwise raise LeaseLost.
        """

    def check(self, lease: Lease, *, now_ms: int) -> None:
        """Raise LeaseLost unless *lease* is live and its token is current; call this before every side effect."""

    def release(self, lease: Lease) -> None:
        """Release *lease* before it expires. A lost lease changes nothing and does not affect the new holder."""
