"""Port for the cost of model calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Cost:
    """
    Cost of the calls of one model for one purpose, on one day (``YYYY-MM-DD``) or, if ``day`` is empty, in total.

    ``prompt_tokens`` and ``answer_tokens`` are reported by the model, or estimated at four characters per
    token if it reports none; ``calls`` includes the ``failed`` calls.
    """

    day: str
    model: str
    purpose: str
    calls: int = 1
    failed: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    took_ms: int = 0


class CostLedger(Protocol):
    """Sums of model costs by day, model and purpose."""

    def charge(self, cost: Cost) -> None:
        """Add *cost* to the sums of its day immediately, whether or not the answer is used."""

    def calls_on(self, day: str) -> int:
        """Return the number of calls on that day."""

    def totals(self) -> list[Cost]:
        """Return the total costs sorted by model and purpose; ``day`` is empty."""
