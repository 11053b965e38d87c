"""
Rules of a lease with fencing tokens: who may acquire it, renew it, and act under it.

A lease store checks each rule inside the transaction that it protects, in the language of its storage. The contract of
`clawmem.ports.storage.LeaseStore` compares every store with these functions over random histories.

Times are Unix-epoch milliseconds passed by the caller. Expiry is exclusive: at exactly ``expires_ms`` anybody may
acquire the lease, including the previous holder. Each acquisition gets its own random token, which distinguishes a
holder that was suspended past the expiry from a later holder of the same name.

*current* is the lease that the store holds, live or expired; ``None`` if the name was never acquired or was released.
"""

from clawmem.ports.storage import Lease


def may_acquire(current: Lease | None, now_ms: int) -> bool:
    """Whether anybody can acquire the lease: it is free or has expired."""
    return current is None or now_ms >= current.expires_ms


def may_renew(lease: Lease, current: Lease | None) -> bool:
    """Whether the holder of *lease* may renew or release it, live or expired: nobody acquired or released it since."""
    return current is not None and (lease.holder, lease.token) == (current.holder, current.token)


def may_act(lease: Lease, current: Lease | None, now_ms: int) -> bool:
    """
    Whether a write under *lease* may take effect: it is the current one, and live.

    Check it in the same transaction as the write; a result from before the transaction can be stale.
    """
    return may_renew(lease, current) and not may_acquire(current, now_ms)
