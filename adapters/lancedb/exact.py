"""BM25 word for word over the entries that hold a word of the question: what a small table affords."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from clawmem.adapters.lancedb.words import stems
from clawmem.ports.lexical_index import K1, B
from clawmem.ports.records import FragmentKey, Grain, Hit, LexicalQuery, Term


class Wanted(NamedTuple):
    """A term as it is looked for: its stems side by side, the last one perhaps the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool

    def condition(self, column: str) -> str:
        """The engine's filter for the entries that hold it."""
        # Words are letters and digits, so there is nothing in them to be escaped.
        return f"{column} like '% {' '.join(self.words)}{'%' if self.prefix else ' %'}'"

    def pattern(self) -> re.Pattern[str]:
        """What finds each place where an entry holds it, and the words that stand there."""
        return re.compile(rf"(?<= ){' '.join(self.words)}{'[^ ]*' if self.prefix else '(?= )'}")


def wanted(term: Term) -> Wanted | None:
    """What to look for; ``None`` for a term without a letter or digit."""
    words = tuple(stems(term.text))
    return Wanted(words, term.prefix) if words else None


def scored(table: Any, query: LexicalQuery, grain: Grain, limit: int, where: str | None) -> list[Hit]:
    """
    The best hits of a grain by the formula of the port, lengths and rarities exact.

    Args:
        where: The condition of a scope. It limits what is found, not the statistics.
    """
    terms = list(dict.fromkeys(filter(None, map(wanted, query.terms))))
    if limit < 1 or not terms:
        return []
    rows = _holding_any(table, terms, grain, where)
    patterns = [term.pattern() for term in terms]
    counts = [[len(pattern.findall(row["text"])) for pattern in patterns] for row in rows]
    held = [sum(map(bool, column)) for column in zip(*counts, strict=True)] if counts else [0] * len(terms)
    if query.every and not all(held):
        return []
    sizes = _sizes(table, grain)
    rarities = [rarity(len(sizes), number) for number in held]
    mean = sum(sizes) / max(1, len(sizes))
    hits = [
        Hit(FragmentKey(row["document_id"], row["seq"]), _score(count, rarities, row["size"] / mean))
        for row, count in zip(rows, counts, strict=True)
        if row["within"] and (all(count) if query.every else any(count))
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def rarity(entries: int, holding: int) -> float:
    """How much one more entry with a term tells; see the formula of the port."""
    return math.log1p((entries - holding + 0.5) / (holding + 0.5))


def _holding_any(
    table: Any, terms: Sequence[Wanted], grain: Grain, where: str | None
) -> list[dict[str, Any]]:
    either = " or ".join(term.condition(grain.value) for term in terms)
    columns = {name: name for name in ("document_id", "seq", "size")}
    columns |= {"text": grain.value, "within": f"({where})" if where else "true"}
    query = table.search().where(f"grain = '{grain.value}' and ({either})").select(columns)
    found: list[dict[str, Any]] = query.limit(table.count_rows() + 1).to_arrow().to_pylist()
    return found


def _sizes(table: Any, grain: Grain) -> list[int]:
    query = table.search().where(f"grain = '{grain.value}'").select(["size"])
    found: list[int] = query.limit(table.count_rows() + 1).to_arrow()["size"].to_pylist()
    return found


def _score(counts: Sequence[int], rarities: Sequence[float], length: float) -> float:
    norm = K1 * (1 - B + B * length)
    return sum(
        rarity * count * (K1 + 1) / (count + norm)
        for rarity, count in zip(rarities, counts, strict=True)
        if count
    )
