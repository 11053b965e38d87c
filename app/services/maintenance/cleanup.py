"""Cleanup: counts what was surfaced, and deletes old recalls, receipts, model answers and journal entries."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.maintenance.phase_run import PhaseRun
from clawmem.app.services.retrieval.receipts import Retention
from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.lifecycle.recall import surfaced_stats
from clawmem.ports.clock import Clock
from clawmem.ports.errors import VaultLocked
from clawmem.ports.journal import Journal
from clawmem.ports.models import ModelAnswers
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Receipts, Telemetry

AT_ONCE = 200  # records per transaction
ROUNDS = 50  # transactions per kind of record and run


@dataclass(frozen=True, slots=True)
class Cleanup:
    """
    Counts surfaced documents and deletes records past their retention time.

    Args:
        retention: Retention of receipts, and of recalls, which also applies to model answers and the journal.
    """

    telemetry: Telemetry
    receipts: Receipts
    answers: ModelAnswers
    journal: Journal
    transactions: Transactions
    clock: Clock
    retention: Retention

    def __call__(self, run: PhaseRun) -> PhaseRun:
        """Run the cleanup in small transactions; the metrics count the deleted records."""
        run.selected = len(surfaced_stats(self.telemetry.recalls(), CONTEXT_SURFACING))
        now_ms = self.clock.now_ms()
        recalls, receipts = (iso_utc(now_ms - days * DAY_MS) for days in self.retention)
        with run.effect(self.transactions):  # first, as recalls and answers use connections of their own
            run.metrics = {"recalls_before": recalls, "receipts_before": receipts}
        for counter, trim, before in (
            ("recalls_gone", self.telemetry.trim, recalls),
            ("receipts_gone", self.receipts.trim, receipts),
            ("answers_gone", self.answers.trim, recalls),
            ("runs_gone", self.journal.trim, recalls),
        ):
            run.metrics[counter] = 0
            with suppress(VaultLocked):  # another process is writing; the next run deletes the rest
                for _ in range(ROUNDS):
                    run.check()
                    deleted = trim(before, at_most=AT_ONCE)
                    run.metrics[counter] += deleted
                    run.save(run)
                    if deleted < AT_ONCE:
                        break
        return run
