"""Check that other users of this machine cannot read the vault, the files next to it, or the config file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clawmem.app.private_files import make_private
from clawmem.app.services.maintenance.finding import CheckResult

PERMISSIONS = "permissions"


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
