"""Sweeps: archiving and permanent forgetting by policy, and proposals."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.app.services.lifecycle.forgetting import Forgetting
from clawmem.app.services.lifecycle.status import surfaced_stats
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.policy import ArchivePolicy
from clawmem.domain.lifecycle.recall import is_pin_candidate, is_snooze_candidate
from clawmem.ports.captures import RecallStats
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.journal import Act
from clawmem.ports.records import Document
from clawmem.ports.telemetry import Telemetry

MOST = 5  # proposals of each kind, as a person has to read them


class Proposals(NamedTuple):
    """Served documents that are neither pinned nor snoozed, most surfaced first."""

    pin: tuple[Document, ...] = ()
    snooze: tuple[Document, ...] = ()


class Propose:
    """Reads the retained record of surfaced documents; changes nothing."""

    def __init__(self, documents: DocumentStore, telemetry: Telemetry, clock: Clock) -> None:
        self._documents = documents
        self._telemetry = telemetry
        self._clock = clock

    def __call__(self) -> Proposals:
        """Return up to `MOST` documents of each kind."""
        stats, now = surfaced_stats(self._telemetry), iso_utc(self._clock.now_ms())
        known = self._documents.many(stats).values()
        free = [
            one for one in known if one.inactive is None and not one.is_pinned and not one.is_snoozed(now)
        ]

        def chosen(fits: Callable[[RecallStats], bool]) -> tuple[Document, ...]:
            found = [one for one in free if fits(stats[one.id])]
            return tuple(sorted(found, key=lambda one: (-stats[one.id].recalls, one.display_path))[:MOST])

        return Proposals(chosen(is_pin_candidate), chosen(is_snooze_candidate))


class SweepOutcome(NamedTuple):
    """
    Archived and permanently forgotten documents of a sweep; in a preview those that would be, with proposals.

    ``left`` is the reason why bytes of forgotten documents may remain in free space; empty if none do.
    """

    is_preview: bool
    archived: list[Document]
    purged: list[Document]
    proposals: Proposals = Proposals()
    left: str = ""


class Sweep:
    """Archives and purges by a policy. It ignores ``only_previews``: the caller decides whether to preview."""

    def __init__(self, archiving: Archiving, forgetting: Forgetting, propose: Propose) -> None:
        self._archiving = archiving
        self._forgetting = forgetting
        self._propose = propose

    def preview(self, policy: ArchivePolicy) -> SweepOutcome:
        """Return the effects of a sweep; nothing is changed."""
        archiving = self._archiving
        return SweepOutcome(True, archiving.due(policy), archiving.due_for_good(policy), self._propose())

    def __call__(self, policy: ArchivePolicy, by: str) -> SweepOutcome:
        """
        Archive and purge the documents that are due.

        Raises:
            VaultError: nothing was archived, or nothing more was forgotten.
        """
        due_for_good = self._archiving.due_for_good(policy)
        archived = self._archiving.sweep(policy, by)
        left = self._forgetting(due_for_good, by, "archived for long", Act.PURGE).left
        return SweepOutcome(False, archived, due_for_good, left=left)
