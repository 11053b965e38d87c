"""The policy for idle documents: the section ``lifecycle`` of the configuration."""

from __future__ import annotations

from clawmem.app.settings.sections import LifecycleSettings
from clawmem.domain.lifecycle.policy import AFTER_DAYS, ArchivePolicy


def read_policy(section: LifecycleSettings | None) -> ArchivePolicy | None:
    """Return the policy of *section*; ``None`` without a section. Missing keys keep their defaults."""
    if section is None:
        return None
    return ArchivePolicy(
        section.archive_after_days or AFTER_DAYS,
        section.type_overrides or {},
        frozenset(section.exempt_collections or ()),
        section.dry_run is not False,
        section.purge_after_days,
    )
