"""Cleanup: recomputes recall statistics and deletes old recalls, receipts, model answers and journal entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from clawmem.app.services.lifecycle.archiving import surfaced_stats
from clawmem.app.services.maintenance.deciding import Fence
from clawmem.app.services.retrieval.recalls import Retention
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.lifecycle.recall import is_pin_candidate, is_snooze_candidate
from clawmem.ports.clock import Clock
from clawmem.ports.errors import VaultLocked
from clawmem.ports.journal import Journal
from clawmem.ports.models import ModelAnswers
from clawmem.ports.sessions import RecallStats, UsageStore
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Receipts, Telemetry

AT_ONCE = 200  # records per transaction
ROUNDS = 50  # transactions per kind of record and run

Trim = Callable[..., int]


class CleanupReport(NamedTuple):
    """
    Documents with recall statistics and how many of these changed, candidates, and counts of deleted records.

    Records from before ``recalls_before`` and ``receipts_before`` are deleted; empty where nothing is.
    """

    documents: int = 0
    changed: int = 0
    pin_candidates: int = 0
    snooze_candidates: int = 0
    recalls_gone: int = 0
    receipts_gone: int = 0
    answers_gone: int = 0
    runs_gone: int = 0
    recalls_before: str = ""
    receipts_before: str = ""


Tell = Callable[[CleanupReport], None]


@dataclass(frozen=True, slots=True)
class Cleanup:
    """
    Updates recall statistics and deletes records past their retention time.

    Args:
        retention: Retention of receipts, and of recalls, which also applies to model answers and the journal.
        forgets: Whether anything is deleted at all.
    """

    usage: UsageStore
    telemetry: Telemetry
    receipts: Receipts
    answers: ModelAnswers
    journal: Journal
    transactions: Transactions
    clock: Clock
    retention: Retention
    forgets: bool = True

    def __call__(self, fence: Fence = lambda: None, tell: Tell = lambda tidied: None) -> CleanupReport:
        """
        Run the cleanup in small transactions.

        Args:
            fence: Called before or in each transaction. Its exceptions propagate.
            tell: Receives the progress; statistics in the transaction that writes them.
        """
        before = self.usage.recall_stats()
        after = surfaced_stats(self.telemetry)
        gone = (stats._replace(recalls=0) for number, stats in before.items() if number not in after)
        new = (stats for number, stats in after.items() if before.get(number) != stats)
        changed = [*new, *gone]
        pins, snoozes = (sum(map(of, after.values())) for of in (is_pin_candidate, is_snooze_candidate))
        tidied = CleanupReport(len(after), pin_candidates=pins, snooze_candidates=snoozes)
        for some in _chunks(changed, AT_ONCE):
            with self.transactions.writing():
                fence()
                self.usage.put_recall_stats(some)
                tidied = tidied._replace(changed=tidied.changed + len(some))
                tell(tidied)
        return self._trimmed(tidied, fence, tell) if self.forgets else tidied

    def _trimmed(self, tidied: CleanupReport, fence: Fence, tell: Tell) -> CleanupReport:
        """Delete old records, reporting the cut-off times first: recalls and answers use connections of their own."""
        recalls, receipts = (self._before(days) for days in self.retention)
        tidied = tidied._replace(recalls_before=recalls, receipts_before=receipts)
        with self.transactions.writing():
            fence()
            tell(tidied)
        for counter, trim, before in (
            ("recalls_gone", self.telemetry.trim, recalls),
            ("receipts_gone", self.receipts.trim, receipts),
            ("answers_gone", self.answers.trim, recalls),
            ("runs_gone", self.journal.trim, recalls),
        ):
            for went in _going(trim, before, fence):
                tidied = tidied._replace(**{counter: getattr(tidied, counter) + went})
                tell(tidied)
        return tidied

    def _before(self, days: int) -> str:
        return iso_utc(self.clock.now_ms() - days * DAY_MS)


def _going(trim: Trim, before: str, fence: Fence) -> Iterator[int]:
    """Delete step by step, yielding the number of deleted records of each step."""
    with suppress(VaultLocked):  # another process is writing; the next run deletes the rest
        for _ in range(ROUNDS):
            fence()
            went = trim(before, at_most=AT_ONCE)
            if went:
                yield went
            if went < AT_ONCE:
                return


def _chunks(every: Iterable[RecallStats], size: int) -> Iterator[list[RecallStats]]:
    rest = iter(every)
    while some := list(islice(rest, size)):
        yield some
