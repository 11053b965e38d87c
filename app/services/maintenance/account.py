"""Human-readable description of a maintenance run: its decisions, their notes and their reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from clawmem.app.services.maintenance.lanes import summarize_run
from clawmem.domain.security.quoting import shown_title
from clawmem.ports.journal import Run
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

_DOES = {
    "enrich": "looked at",
    "fail": "left for later",
    "conclude": "something follows from them",
    "merge": "the same",
    "refuse": "kept apart",
    "link": "contradict each other",
    "supersede": "contradict each other, the first one holds",
}
_FIGURES = ("score", "threshold", "method", "confidence", "by")


class RunDescription(NamedTuple):
    """A run and the documents of its decisions by id. Documents that were forgotten are missing."""

    run: Run
    documents: dict[int, Document]

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """Return the decisions with the paths of their notes; a forgotten note appears as its id."""
        return [
            {**one, "notes": [self._place(number) for number in one["documents"]]}
            for one in self.run.metrics.get("decisions", ())
        ]

    def lines(self) -> Iterator[str]:
        """Yield one line for the run, then one line per decision."""
        yield summarize_run(self.run)
        for one in self.decisions:
            notes = "1 note" if len(one["documents"]) == 1 else f"{len(one['documents'])} notes"
            made = f", now {self._place(one['made'])}" if "made" in one else ""
            yield f"  {self._titles(one['documents'])}: {_DOES[one['verdict']]}, {notes}, {_why(one)}{made}"
        if said := self.run.metrics.get("stopped"):
            yield f"  no model was asked any more: {said}"

    def _place(self, number: int) -> str | int:
        return self.documents[number].display_path if number in self.documents else number

    def _titles(self, numbers: Iterable[int]) -> str:
        named = (shown_title(self.documents[n]) if n in self.documents else f"number {n}" for n in numbers)
        return " | ".join(dict.fromkeys(named))


def _why(one: Mapping[str, Any]) -> str:
    """Return the reason of a decision with its figures and the number of records it produced."""
    said = [f"{name} {one[name]}" for name in _FIGURES if name in one]
    said += [f"{name} {count}" for name, count in one.get("yields", {}).items()]
    return f"{one['why']} ({', '.join(said)})" if said else one["why"]


def describe_run(vault: Vault, run: Run) -> RunDescription:
    """Return *run* with the documents that its decisions name."""
    decisions = run.metrics.get("decisions", ())
    numbers = {number for one in decisions for number in (*one["documents"], one.get("made", 0))}
    known = vault.documents.many(numbers)
    return RunDescription(run, {number: one for number, one in known.items() if one.title})
