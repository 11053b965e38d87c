"""Checks of the machine: the disk, the server, and the permissions of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from shutil import disk_usage

from clawmem.app.client.announcement import announced
from clawmem.app.client.autostart import is_running
from clawmem.app.client.request import version_fault
from clawmem.app.environment.private_files import make_private
from clawmem.app.services.maintenance.finding import CheckResult

LEAST_BYTES = 1 << 20  # enough for a log and a few notes
PERMISSIONS = "permissions"


def disk_findings(vault: Path) -> list[CheckResult]:
    """Return a finding if *vault* cannot be written or its disk is full; none if the space is unknown."""
    if not (os.access(vault, os.W_OK) and os.access(vault.parent, os.W_OK)):
        detail = f"{vault} cannot be written. Search works, but nothing is indexed or remembered"
        return [CheckResult("disk", False, detail, "Check the permissions of the file and its folder.")]
    try:
        free = disk_usage(vault.parent).free
    except OSError:
        return []
    if free >= LEAST_BYTES:
        return []
    detail = f"The disk is full: {free} bytes are left for {vault}. Search works, but nothing can be written"
    return [CheckResult("disk", False, detail, "Free some space.")]


def server_findings(vault: Path) -> list[CheckResult]:
    """Return a finding if a server of another version runs; hooks and commands do not use it."""
    server = announced(vault) if is_running(vault) else None
    detail, _, remedy = version_fault(server).partition("; ") if server else ("", "", "")
    return [CheckResult("server", False, detail, remedy)] if detail else []


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


def draft_finding(swept: list[Path]) -> CheckResult:
    """Return the finding about drafts of killed commands, which were deleted."""
    return CheckResult("drafts", True, f"deleted {_listed(swept)}" if swept else "no command left any")


def _listed(paths: list[Path]) -> str:
    more = len(paths) - 1
    return f"{paths[0]}{f' and {more} more files or folders' if more else ''}"
