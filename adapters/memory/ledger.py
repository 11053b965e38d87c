from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from clawmem.ports.ledger import Cost


class MemoryLedger:
    """Reference ``CostLedger`` over a list of costs."""

    def __init__(self) -> None:
        self._costs: list[Cost] = []

    def charge(self, cost: Cost) -> None:
        self._costs.append(cost)

    def calls_on(self, day: str) -> int:
        return sum(cost.calls for cost in self._costs if cost.day == day)

    def totals(self) -> list[Cost]:
        spent: defaultdict[tuple[str, str], list[Cost]] = defaultdict(list)
        for cost in self._costs:
            spent[cost.model, cost.purpose].append(cost)
        return [_sum(costs) for _, costs in sorted(spent.items())]


def _sum(costs: list[Cost]) -> Cost:
    return replace(
        costs[0],
        day="",
        calls=sum(cost.calls for cost in costs),
        failed=sum(cost.failed for cost in costs),
        prompt_tokens=sum(cost.prompt_tokens for cost in costs),
        answer_tokens=sum(cost.answer_tokens for cost in costs),
        took_ms=sum(cost.took_ms for cost in costs),
    )
