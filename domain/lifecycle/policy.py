"""Rules for which documents are to be archived, purged, pinned or snoozed, by the owner's policy and by their use."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall

AFTER_DAYS = 90


@dataclass(frozen=True, slots=True)
class ArchivePolicy:
    """
    Days without a new text or an access after which a document is archived; ``None`` for a type means never.

    An archived document is forgotten ``purge_after_days`` later; ``None`` means never. With ``dry_run``, which is the
    default, nothing is archived automatically.
    """

    archive_after_days: float = AFTER_DAYS
    type_overrides: Mapping[str, float | None] = field(default_factory=dict)
    exempt_collections: Sequence[str] = ()
    dry_run: bool = True
    purge_after_days: float | None = None

    def days_of(self, content_type: str) -> float | None:
        """Return the limit in days for documents of a type; ``None`` means never."""
        return self.type_overrides.get(content_type, self.archive_after_days)


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
    is_exempt = document.collection in policy.exempt_collections
    if is_exempt or document.is_pinned or document.is_snoozed(iso_utc(now_ms)):
        return False
    return idle_days(document, now_ms) > limit


def is_due_for_good(archived_at: str, policy: ArchivePolicy, now_ms: int) -> bool:
    """Whether *policy* purges a document archived at *archived_at*; false if that time cannot be parsed."""
    archived_ms = parse_iso(archived_at)
    if policy.purge_after_days is None or archived_ms is None:
        return False
    return now_ms - archived_ms > policy.purge_after_days * DAY_MS


# -- use in prompts ------------------------------------------------------------------------------------

ENOUGH = 5  # distinct queries or days at which the measures reach their maximum

PIN_DIVERSITY, PIN_SPACING, PIN_RECALLS = 0.4, 0.5, 3
SNOOZE_RECALLS, SNOOZE_IGNORED = 5, 0.8


class Surfacing(NamedTuple):
    """One time that a document was added to a prompt: when, to which prompt, and whether the answer used it."""

    at: str
    query_hash: str
    was_referenced: bool = False


class RecallStats(NamedTuple):
    """
    Statistics over the times at which one document was surfaced.

    ``queries`` and ``days`` count distinct values; ``negatives`` the times at which the document was not used.
    ``diversity`` is from 0 to 1 with the distinct queries and days, ``spacing`` with their even distribution over time.
    """

    recalls: int
    queries: int
    days: int
    negatives: int
    diversity: float
    spacing: float


def recall_stats(times: Sequence[Surfacing]) -> RecallStats:
    """Return the statistics of *times*, one or more in any order."""
    days = sorted({surfacing.at[: len("2026-03-31")] for surfacing in times})
    queries = len({surfacing.query_hash for surfacing in times})
    spacing = 0.2
    if len(days) > 1:
        first, last = parse_iso(days[0]), parse_iso(days[-1])
        span_days = 0.0 if first is None or last is None else (last - first) / DAY_MS
        spacing = 0.55 * min(1.0, log(len(days)) / log(ENOUGH)) + 0.45 * min(1.0, span_days / 7.0)
    negatives = sum(not surfacing.was_referenced for surfacing in times)
    diversity = min(1.0, max(queries, len(days)) / ENOUGH)
    return RecallStats(len(times), queries, len(days), negatives, diversity, spacing)


def surfaced_stats(recalls: Iterable[Recall], verb: str) -> dict[int, RecallStats]:
    """Return the statistics of those *recalls* that *verb* asked in a session, by document; a preview has none."""
    times: dict[int, list[Surfacing]] = {}
    for recall in recalls:
        for hit in recall.hits if recall.verb == verb and recall.session_id else ():
            surfacing = Surfacing(recall.asked_at, recall.query_hash, hit.was_referenced)
            times.setdefault(hit.document_id, []).append(surfacing)
    return {number: recall_stats(surfacings) for number, surfacings in times.items()}


def is_pin_candidate(stats: RecallStats) -> bool:
    """Whether a document was surfaced for many different prompts, spread over time."""
    is_spread = stats.diversity >= PIN_DIVERSITY and stats.spacing >= PIN_SPACING
    return is_spread and stats.recalls >= PIN_RECALLS


def is_snooze_candidate(stats: RecallStats) -> bool:
    """Whether a document was surfaced five times or more, and unused in more than 80 % of them."""
    return stats.recalls >= SNOOZE_RECALLS and stats.negatives > SNOOZE_IGNORED * stats.recalls
