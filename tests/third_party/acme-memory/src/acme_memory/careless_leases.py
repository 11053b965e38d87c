from __future__ import annotations

from typing import Any

from acme_memory.leases import JsonLeases

from clawmem.ports.records import Lease


class CarelessLeases(JsonLeases):
    """Looks right and is not: a lease lives a millisecond too long, and a released one takes its token along."""

    def _is_live(self, lease: Lease, now_ms: int) -> bool:
        return now_ms <= lease.expires_ms

    def _end(self, leases: dict[str, Any], lease: Lease) -> None:
        del leases[lease.name]
