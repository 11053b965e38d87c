"""Port: what asking models costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Cost:
    """
    What was spent on one purpose with one model, on one day (``YYYY-MM-DD``) or, where ``day`` is empty, ever.

    ``prompt_tokens`` and ``answer_tokens`` are what the model says, or estimates of four characters each where it says
    nothing; ``failed`` calls are among ``calls``.
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
    """Adds up what was spent, by day, model and purpose."""

    def charge(self, cost: Cost) -> None:
        """Add it to what was spent on that day; at once, whatever becomes of the answer."""
        ...

    def calls_on(self, day: str) -> int:
        """How many calls that day had."""
        ...

    def totals(self) -> list[Cost]:
        """What was ever spent, by model and purpose, in that order; ``day`` is empty."""
        ...
