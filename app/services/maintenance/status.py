"""Statistics of a vault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.models.watching import Provider
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.embeddings import EmbeddingBuild, EmbeddingCounts
from clawmem.ports.notes import NoteCounts
from clawmem.ports.sessions import Session
from clawmem.ports.stores import DocumentsWithSessions
from clawmem.ports.vault import Vault, VaultInfo

RECENT = 5
DAY = len("2026-03-31")


@dataclass(frozen=True, slots=True)
class StatusReport:
    """
    Counts of served documents, vectors and records.

    ``collections`` and ``content_types`` are sorted by name. ``model`` names the embedding space of the stored
    vectors, ``None`` while there are none; ``building`` is the embedding space under construction. ``newest`` is the
    latest modification time of a document, ignoring times in the future (a wrong clock, an invented date); ``None``
    when no time remains. ``recalls`` counts the recorded questions, ``receipts`` their stored receipts. ``notes``
    counts enriched documents, ``relations`` the relations of each kind. ``roles`` lists the provider of each model
    role and its last failure.
    """

    info: VaultInfo
    collections: dict[str, int]
    documents: int
    embeddings: EmbeddingCounts
    model: str | None
    building: EmbeddingBuild | None
    content_types: dict[str, int]
    newest: str | None
    recalls: int
    receipts: int
    receipt_bytes: int
    roles: list[Provider] = field(default_factory=list)
    notes: NoteCounts = field(default_factory=NoteCounts)
    relations: dict[str, int] = field(default_factory=dict)


class Status:
    """Collects the statistics of a vault; changes nothing."""

    def __init__(self, vault: Vault, clock: Clock, roles: Callable[[], list[Provider]] = list) -> None:
        self._vault = vault
        self._clock = clock
        self._roles = roles

    def __call__(self) -> StatusReport:
        """
        Return the current statistics.

        Raises:
            VaultError: the vault cannot be read.
        """
        receipts = self._vault.receipts.counts()
        served = [(one.content_type, one.authored_at) for one in every_served(self._vault.documents)]
        collections = dict(self._vault.documents.collections())
        return StatusReport(
            info=self._vault.info(),
            collections=collections,
            documents=sum(collections.values()),
            embeddings=self._vault.embeddings.counts(),
            model=self._vault.embeddings.fingerprint(),
            building=self._vault.embeddings.building(),
            content_types=dict(sorted(Counter(kind for kind, _ in served).items())),
            newest=_newest((moment for _, moment in served), iso_utc(self._clock.now_ms())),
            recalls=self._vault.telemetry.count(),
            receipts=receipts.stored,
            receipt_bytes=receipts.size_bytes,
            roles=self._roles(),
            notes=self._vault.notes.counts(),
            relations={kind.value: count for kind, count in self._vault.relations.counts().items()},
        )


def _newest(moments: Iterable[str], now: str) -> str | None:
    return max((moment for moment in moments if moment <= now), default=None)


@dataclass(frozen=True, slots=True)
class VaultStatistics:
    """
    The counts of `Status`; and the number of served documents past their review date, their mean number of accesses,
    and the latest sessions, newest first.
    """

    status: StatusReport
    stale: int
    mean_accesses: float
    sessions: list[Session]


def numbers(vault: DocumentsWithSessions, clock: Clock, status: Status) -> VaultStatistics:
    """Return the current statistics. Raises `VaultError` if the vault cannot be read."""
    told, today = status(), iso_utc(clock.now_ms())[:DAY]
    served = [(one.review_by, one.access_count) for one in every_served(vault.documents)]
    return VaultStatistics(
        told,
        stale=sum(bool(day) and str(day)[:DAY] < today for day, _ in served),
        mean_accesses=round(sum(number for _, number in served) / max(1, len(served)), 2),
        sessions=vault.sessions.recent(RECENT),
    )
