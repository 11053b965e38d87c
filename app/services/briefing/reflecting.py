"""Review of the last days: repeated phrases in decisions, and documents that were used together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clawmem.domain.briefing.phrases import Phrase, repeated_phrases
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.ports.captures import UsageStore
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document
from clawmem.ports.stores import DocumentsWithSessions

DAYS = 14
DECISIONS, ANTIPATTERNS, PAIRS = 50, 10, 10
LEAST_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """Two served documents, ordered by id, and how often both were used in the same turn."""

    one: Document
    other: Document
    count: int


@dataclass(frozen=True, slots=True)
class Reflection:
    """
    Results of a review.

    ``decisions`` and ``antipatterns`` were written in the last ``days``, latest first; ``phrases`` occur repeatedly in
    the decisions. ``together`` covers all time, most frequent pairs first.
    """

    days: int
    decisions: list[Document]
    phrases: list[Phrase]
    antipatterns: list[Document]
    together: list[DocumentPair]


def reflect(vault: DocumentsWithSessions, clock: Clock, days: int = DAYS) -> Reflection:
    """Review the last *days*; nothing is changed. Raises `VaultError`."""
    since = iso_utc(max(0, clock.now_ms() - days * DAY_MS))
    served = vault.documents.latest()
    recent = [one for one in served if one.authored_at >= since]
    decisions = [one for one in recent if one.content_type == "decision"][:DECISIONS]
    pairs = sorted(_together(vault.usage, served), key=lambda pair: (-pair.count, pair.one.id, pair.other.id))
    return Reflection(
        days,
        decisions,
        repeated_phrases(f"{one.title}\n{vault.documents.body(one.id) or ''}" for one in decisions),
        [one for one in recent if one.content_type == "antipattern"][:ANTIPATTERNS],
        pairs[:PAIRS],
    )


def _together(usage: UsageStore, served: list[Document]) -> Iterator[DocumentPair]:
    known = {one.id: one for one in served}
    for one in served:
        # Documents without any use cannot have been used together with others.
        for other, count in usage.partners(one.id).items() if one.access_count else ():
            if count >= LEAST_TOGETHER and one.id < other and other in known:
                yield DocumentPair(one, known[other], count)
