"""Check of the free disk space."""

from __future__ import annotations

from pathlib import Path
from shutil import disk_usage

from clawmem.app.services.maintenance.finding import CheckResult

LEAST_BYTES = 1 << 20  # enough for a log and a few notes


def disk_findings(vault: Path) -> list[CheckResult]:
    """Return a finding if the disk of *vault* is full; none if there is room or the space is unknown."""
    try:
        free = disk_usage(vault.parent).free
    except OSError:
        return []
    if free >= LEAST_BYTES:
        return []
    detail = f"The disk is full: {free} bytes are left for {vault}. Search works, but nothing can be written"
    return [CheckResult("disk", False, detail, "Free some space.")]
