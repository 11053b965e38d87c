"""Policy of the owner for archiving and purging idle documents, and the checks which documents are due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.ports.errors import ConfigError
from clawmem.ports.records import Document

AFTER_DAYS = 90

_KEYS = frozenset(
    {"archive_after_days", "type_overrides", "purge_after_days", "exempt_collections", "dry_run"}
)


@dataclass(frozen=True, slots=True)
class ArchivePolicy:
    """
    After how many days without a change or an access a document is put away; of some types after others, or never.

    ``purge_after_days`` later it is forgotten, with ``None`` never. ``only_previews`` unless the owner said otherwise: then nothing is ever put away unasked.
    """

    after_days: float = AFTER_DAYS
    type_days: Mapping[str, float | None] = field(default_factory=dict)
    exempt: frozenset[str] = frozenset()
    only_previews: bool = True
    purge_after_days: float | None = None

    def days_of(self, content_type: str) -> float | None:
        """Return the limit in days for documents of a type; ``None`` means never."""
        return self.type_days.get(content_type, self.after_days)


def read_policy(chosen: Mapping[str, Any]) -> ArchivePolicy | None:
    """
    Return the policy of the section ``lifecycle`` of a configuration; ``None`` if the section is empty.

    Raises:
        ConfigError: an unknown key, or a value of the wrong type.
    """
    if not chosen:
        return None
    if unknown := sorted(map(str, set(chosen) - _KEYS)):
        raise ConfigError(
            f"lifecycle: unknown key {', '.join(unknown)}. Valid keys: {', '.join(sorted(_KEYS))}."
        )
    purge = chosen.get("purge_after_days")
    types = chosen.get("type_overrides") or {}
    exempt = chosen.get("exempt_collections") or []
    if not isinstance(types, Mapping) or not isinstance(exempt, list):
        raise ConfigError(
            "lifecycle: type_overrides maps types to days, exempt_collections is a list of names."
        )
    return ArchivePolicy(
        _days("archive_after_days", chosen.get("archive_after_days", AFTER_DAYS)),
        {str(name): None if days is None else _days(str(name), days) for name, days in types.items()},
        frozenset(map(str, exempt)),
        chosen.get("dry_run") is not False,
        None if purge is None else _days("purge_after_days", purge),
    )


def idle_days(document: Document, now_ms: int) -> float:
    """Return the days since the later of the last change and the last access; 0 if neither time can be parsed."""
    times = (parse_iso(document.modified_at), parse_iso(document.last_accessed_at or ""))
    return max(0.0, (now_ms - max([at for at in times if at is not None], default=now_ms)) / DAY_MS)


def is_due(document: Document, policy: ArchivePolicy, now_ms: int) -> bool:
    """
    Whether *policy* archives a document.

    It does if the document is active, idle for longer than its limit, and neither pinned, snoozed nor exempt.
    """
    limit = policy.days_of(document.content_type)
    if limit is None or document.inactive is not None:
        return False
    if document.is_pinned or document.is_snoozed(iso_utc(now_ms)) or document.collection in policy.exempt:
        return False
    return idle_days(document, now_ms) > limit


def is_due_for_good(archived_at: str, policy: ArchivePolicy, now_ms: int) -> bool:
    """Whether *policy* purges a document archived at *archived_at*; false if that time cannot be parsed."""
    archived_ms = parse_iso(archived_at)
    if policy.purge_after_days is None or archived_ms is None:
        return False
    return now_ms - archived_ms > policy.purge_after_days * DAY_MS


def _days(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ConfigError(f"lifecycle: {name} must be a number of days above 0, not {value!r}.")
    return float(value)
