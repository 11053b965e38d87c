"""Checks of the disk: the free space, and that other users cannot read the vault and the config file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from shutil import disk_usage

from clawmem.app.environment.private_files import make_private
from clawmem.app.services.maintenance.finding import CheckResult

LEAST_BYTES = 1 << 20  # enough for a log and a few notes
PERMISSIONS = "permissions"


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


def permission_finding(places: Iterable[Path]) -> CheckResult:
    """Make *places* and everything below them private; return a finding that lists those that were not."""
    changed: list[Path] = []
    failed: list[Path] = []
    for place in places:
        made, left = make_private(place)
        changed += made
        failed += left
    if failed:
        remedy = f"Run as their owner: chmod -R go-rwx '{failed[0]}'"
        return CheckResult(PERMISSIONS, False, f"other users can read {_listed(failed)}", remedy)
    if changed:
        return CheckResult(PERMISSIONS, True, f"other users could read {_listed(changed)}; now only you can")
    return CheckResult(
        PERMISSIONS, True, "only you can read the vault and the files next to it, and the config file"
    )


def _listed(paths: list[Path]) -> str:
    more = len(paths) - 1
    return f"{paths[0]}{f' and {more} more files or folders' if more else ''}"
