from __future__ import annotations

from acme_memory.leases import JsonLeases

from clawmem.ports.storage import Lease


class CarelessLeases(JsonLeases):
    """Looks right and is not: a lease lives a millisecond too long, and a holder has the same token every time."""

    def _is_live(self, lease: Lease, now_ms: int) -> bool:
        return now_ms <= lease.expires_ms

    def _token(self, holder: str) -> str:
        return holder.encode().hex().rjust(32, "0")
