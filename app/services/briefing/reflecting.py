"""What the last days have in common: what decisions speak of again and again, and what was of use together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clawmem.domain.briefing.current import DAY_MS
from clawmem.domain.briefing.phrases import Phrase, repeated_phrases
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

DAYS = 14
DECISIONS, ANTIPATTERNS, PAIRS = 50, 10, 10
LEAST_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class Together:
    """Two served documents, in the order of their ids, and how often both were of use at once."""

    one: Document
    other: Document
    count: int


@dataclass(frozen=True, slots=True)
class Reflection:
    """
    ``decisions`` and ``antipatterns`` are those that were written in these ``days``, the latest first; ``phrases``
    what the decisions say again and again. ``together`` counts since ever, most often first.
    """

    days: int
    decisions: list[Document]
    phrases: list[Phrase]
    antipatterns: list[Document]
    together: list[Together]


def reflect(vault: Vault, clock: Clock, days: int = DAYS) -> Reflection:
    """Look back over so many days; nothing is changed. Raises `VaultError`."""
    since = iso_utc(max(0, clock.now_ms() - days * DAY_MS))
    served = vault.documents.latest()
    recent = [one for one in served if one.authored_at >= since]
    decisions = [one for one in recent if one.content_type == "decision"][:DECISIONS]
    pairs = sorted(_together(vault, served), key=lambda pair: (-pair.count, pair.one.id, pair.other.id))
    return Reflection(
        days,
        decisions,
        repeated_phrases(f"{one.title}\n{vault.documents.body(one.id) or ''}" for one in decisions),
        [one for one in recent if one.content_type == "antipattern"][:ANTIPATTERNS],
        pairs[:PAIRS],
    )


def _together(vault: Vault, served: list[Document]) -> Iterator[Together]:
    known = {one.id: one for one in served}
    for one in served:
        # Only what was of use at all can have been of use together.
        for other, count in vault.usage.partners(one.id).items() if one.access_count else ():
            if count >= LEAST_TOGETHER and one.id < other and other in known:
                yield Together(one, known[other], count)
