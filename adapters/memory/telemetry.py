from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clawmem.ports.telemetry import Recall


class MemoryTelemetry:
    """``Telemetry`` over a list: the reference to read first."""

    def __init__(self) -> None:
        self._recalls: list[Recall] = []

    def record(self, recall: Recall) -> int:
        newest = max((kept.id for kept in self._recalls), default=0)
        hits = tuple(sorted(recall.hits, key=lambda hit: hit.rank))
        self._recalls.append(replace(recall, hits=hits, id=newest + 1))
        return newest + 1

    def recalls(self, since: str | None = None, until: str | None = None) -> Iterator[Recall]:
        for recall in sorted(self._recalls, key=lambda kept: (kept.asked_at, kept.id)):
            if (since is None or since <= recall.asked_at) and (until is None or recall.asked_at < until):
                yield recall

    def trim(self, before: str) -> int:
        kept = [recall for recall in self._recalls if recall.asked_at >= before]
        gone = len(self._recalls) - len(kept)
        self._recalls = kept
        return gone
