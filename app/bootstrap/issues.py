"""Synchronization of issues with an opened vault."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from clawmem.adapters.beads.tracker import BeadsTracker
from clawmem.app.services.issues.syncing import SyncIssues

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


def issue_sync(services: Services) -> SyncIssues:
    """Return the service that makes documents of the issues of a project, and enriches new ones by rules."""

    def enrich(numbers: Collection[int]) -> object:
        return services.enrich(with_model=False)(only=numbers)

    return SyncIssues(services.vault, services.clock, BeadsTracker(services.settings.home), enrich)
