"""Policy of the owner for archiving and purging idle documents, and the checks which documents are due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.ports.records import Document

AFTER_DAYS = 90


@dataclass(frozen=True, slots=True)
class ArchivePolicy:
    """
    Days without a new text or an access after which a document is archived; ``None`` for a type means never.

    An archived document is forgotten ``purge_after_days`` later; ``None`` means never. With ``only_previews``, which is
    the default, nothing is archived automatically.
    """

    after_days: float = AFTER_DAYS
    type_days: Mapping[str, float | None] = field(default_factory=dict)
    exempt: frozenset[str] = frozenset()
    only_previews: bool = True
    purge_after_days: float | None = None

    def days_of(self, content_type: str) -> float | None:
        """Return the limit in days for documents of a type; ``None`` means never."""
        return self.type_days.get(content_type, self.after_days)


def idle_days(document: Document, now_ms: int) -> float:
    """
    Return the days since the vault read the text of *document*, or since its last access if that is later.

    The text itself may be much older, such as that of an imported conversation. 0 if neither time can be parsed.
    """
    times = (parse_iso(document.indexed_at), parse_iso(document.last_accessed_at or ""))
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
