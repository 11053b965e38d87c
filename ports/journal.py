from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class RunStatus(StrEnum):
    """What became of one attempt of a lane."""

    STARTED = "started"  # and, without an end, interrupted
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Run:
    """
    One attempt of a lane to do one phase of its work: what it looked at, what it did, and why it did not.

    ``phase`` is ``gate`` where the lane did not get so far. Counts are of documents, ``metrics`` is whatever JSON can
    hold. ``finished_at`` is empty while it runs, and for ever when its process was killed. ``id`` is 0 until stored.
    """

    lane: str
    phase: str
    status: RunStatus
    started_at: str
    reason: str = ""
    selected: int = 0
    processed: int = 0
    created: int = 0
    rejected: int = 0
    null_calls: int = 0
    metrics: Mapping[str, Any] = field(default_factory=dict)
    finished_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Replacement:
    """
    One document that is served in the place of others, since when and why.

    ``undone_at`` is empty while that holds. ``id`` is 0 until it is stored.
    """

    document_id: int
    replaced: tuple[int, ...]
    why: str
    at: str
    undone_at: str = ""
    id: int = 0


class Journal(Protocol):
    """What upkeep did by itself. Part of the vault's transactions; documents are named by ids that nothing checks."""

    def begin(self, run: Run) -> int:
        """Write a run down as it is; its id, > 0 and growing."""
        ...

    def tell(self, run: Run) -> None:
        """
        Let the run of that id be this one from now on; an unknown id changes nothing.

        Told in the transaction of an effect, what a run did is known exactly as far as it was done.
        """
        ...

    def run(self, run_id: int) -> Run | None:
        """The run of that id, as it was last told; ``None`` when there is none."""
        ...

    def runs(self, limit: int, lane: str = "", phase: str = "") -> list[Run]:
        """Up to *limit* runs, of one lane and one phase or of all, the last one first. A limit below 1 gives none."""
        ...

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """
        Forget the runs that began before *before* (exclusive), of them the first *at_most*; how many went.

        What they put in the place of what stays written.
        """
        ...

    def replace(self, replacement: Replacement) -> int:
        """Write down that one document stands for others; its id, > 0 and growing."""
        ...

    def replacements(self, document_id: int | None = None, *, undone: bool = False) -> list[Replacement]:
        """
        What stands, by id: of all documents, or of those that this one replaces or is replaced by.

        With *undone* what stood once and does no more.
        """
        ...

    def undo(self, replacement_id: int, at: str) -> bool:
        """It stands no more; whether it did until now."""
        ...
