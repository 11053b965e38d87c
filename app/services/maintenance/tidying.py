"""What recalls come to, made anew; and what is old enough to go: recalls, receipts, models' answers, the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from clawmem.app.services.lifecycle.surfaced import surfaced_stats
from clawmem.app.services.maintenance.careful_asking import Fence
from clawmem.domain.briefing.current import DAY_MS
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.lifecycle.recall import is_pin_candidate, is_snooze_candidate
from clawmem.ports.captures import RecallStats
from clawmem.ports.clock import Clock
from clawmem.ports.errors import VaultLocked
from clawmem.ports.vault import Vault

AT_ONCE = 200  # in one transaction
ROUNDS = 50  # of one run

Trim = Callable[..., int]


class Tidied(NamedTuple):
    """Documents with statistics and how many of these changed, candidates, and how much of what went."""

    documents: int = 0
    changed: int = 0
    pin_candidates: int = 0
    snooze_candidates: int = 0
    recalls_gone: int = 0
    receipts_gone: int = 0
    answers_gone: int = 0
    runs_gone: int = 0


class Tidy:
    """
    Keeps what upkeep is told by, and no more of it than was wanted.

    Args:
        recall_days: For how long recalls, models' answers and the journal are kept.
        receipt_days: For how long receipts are.
        forgets: Whether anything goes at all.
    """

    def __init__(
        self,
        vault: Vault,
        clock: Clock,
        recall_days: int = 90,
        receipt_days: int = 30,
        *,
        forgets: bool = True,
    ) -> None:
        self._vault = vault
        self._clock = clock
        self._recall_days = recall_days
        self._receipt_days = receipt_days
        self._forgets = forgets

    def __call__(self, fence: Fence = lambda: None) -> Tidied:
        """
        Do it, in small steps.

        Args:
            fence: Called before each; what it raises, this raises.
        """
        before = self._vault.usage.recall_stats()
        after = surfaced_stats(self._vault.telemetry)
        gone = (one._replace(recalls=0) for number, one in before.items() if number not in after)
        new = (one for number, one in after.items() if before.get(number) != one)
        changed = [*new, *gone]
        for some in _chunks(changed, AT_ONCE):
            with self._vault.writing():
                fence()
                self._vault.usage.put_recall_stats(some)
        return Tidied(
            len(after),
            len(changed),
            sum(map(is_pin_candidate, after.values())),
            sum(map(is_snooze_candidate, after.values())),
            *(self._trimmed(fence) if self._forgets else ()),
        )

    def _trimmed(self, fence: Fence) -> tuple[int, int, int, int]:
        recalls, receipts = (self._before(days) for days in (self._recall_days, self._receipt_days))
        return (
            _all_gone(self._vault.telemetry.trim, recalls, fence),
            _all_gone(self._vault.receipts.trim, receipts, fence),
            _all_gone(self._vault.answers.trim, recalls, fence),
            _all_gone(self._vault.journal.trim, recalls, fence),
        )

    def _before(self, days: int) -> str:
        return iso_utc(self._clock.now_ms() - days * DAY_MS)


def _all_gone(trim: Trim, before: str, fence: Fence) -> int:
    gone = 0
    with suppress(VaultLocked):  # somebody writes; there is another day for what is old
        for _ in range(ROUNDS):
            fence()
            went = trim(before, at_most=AT_ONCE)
            gone += went
            if went < AT_ONCE:
                break
    return gone


def _chunks(every: Iterable[RecallStats], size: int) -> Iterator[list[RecallStats]]:
    rest = iter(every)
    while some := list(islice(rest, size)):
        yield some
