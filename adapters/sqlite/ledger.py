from __future__ import annotations

from dataclasses import astuple

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.ledger import Cost

_SUMS = ("calls", "failed", "prompt_tokens", "answer_tokens", "took_ms")
_CHARGE = f"""
insert into model_costs values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict do update set {", ".join(f"{one} = {one} + excluded.{one}" for one in _SUMS)}
"""
_TOTALS = f"""
select '', model, purpose, {", ".join(f"sum({one})" for one in _SUMS)}
  from model_costs group by model, purpose order by model, purpose
"""


class SqliteLedger:
    """``CostLedger`` in a table of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def charge(self, cost: Cost) -> None:
        self._db.write(_CHARGE, astuple(cost))

    def calls_on(self, day: str) -> int:
        return int(self._db.value("select coalesce(sum(calls), 0) from model_costs where day = ?", (day,)))

    def totals(self) -> list[Cost]:
        return [Cost(*row) for row in self._db.rows(_TOTALS)]
