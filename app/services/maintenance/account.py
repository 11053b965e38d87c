"""The journal as somebody reads it: what was decided about which notes, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from clawmem.app.services.maintenance.lanes import in_words
from clawmem.ports.journal import Run
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

_DOES = {
    "merge": "the same",
    "refuse": "kept apart",
    "link": "contradict each other",
    "supersede": "contradict each other, the first one holds",
}
_FIGURES = ("score", "threshold", "method", "confidence", "by")


class Account(NamedTuple):
    """A run, and the notes that its decisions are about, by id, as far as they can still be named."""

    run: Run
    documents: dict[int, Document]

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """What was decided, with the places of the notes; one that was forgotten is a number."""
        return [
            {**one, "notes": [self._place(number) for number in one["documents"]]}
            for one in self.run.metrics.get("decisions", ())
        ]

    def lines(self) -> Iterator[str]:
        """The run in a line, then a line for each decision."""
        yield in_words(self.run)
        for one in self.decisions:
            figures = ", ".join(f"{name} {one[name]}" for name in _FIGURES if name in one)
            why = f"{one['why']} ({figures})" if figures else one["why"]
            yield f"  {self._titles(one['documents'])}: {_DOES[one['verdict']]}, {len(one['documents'])} notes, {why}"
        if said := self.run.metrics.get("stopped"):
            yield f"  no model was asked any more: {said}"

    def _place(self, number: int) -> str | int:
        return self.documents[number].display_path if number in self.documents else number

    def _titles(self, numbers: Iterable[int]) -> str:
        named = (self.documents[n].title if n in self.documents else f"number {n}" for n in numbers)
        return " | ".join(dict.fromkeys(named))


def account(vault: Vault, run: Run) -> Account:
    """A run with what its decisions are about."""
    numbers = {number for one in run.metrics.get("decisions", ()) for number in one["documents"]}
    known = vault.documents.many(numbers)
    return Account(run, {number: one for number, one in known.items() if one.title})
