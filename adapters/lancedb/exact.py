"""BM25 by the formula of the port: over all entries of a small table, and over the candidates in a large one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.adapters.lancedb.keys import MARKER, grain_numbers, pack
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
        """What finds each place where an entry holds it: the words that stand there, with the space before them."""
        return re.compile(f" {' '.join(self.words)}{'[^ ]*' if self.prefix else ''}(?= )")

    def times_in(self, text: str) -> int:
        """How often an entry holds it."""
        words = f" {' '.join(self.words)}"
        if self.prefix:
            return text.count(words)
        # The space between two neighbours would be counted for one of them only.
        return len(self.pattern().findall(text)) if f"{words}{words} " in text else text.count(f"{words} ")


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
    counts = [[term.times_in(row["text"]) for term in terms] for row in rows]
    held = [sum(map(bool, column)) for column in zip(*counts, strict=True)] if counts else [0] * len(terms)
    if query.every and not all(held):
        return []
    entries, mean = sizes(table)[grain]
    rarities = [rarity(entries, number) for number in held]
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


def rescored(
    table: Any, hits: Sequence[Hit], grain: Grain, rarities: Mapping[Wanted, float], mean: float
) -> list[Hit]:
    """
    Hits of the engine, which takes a title's repetitions for length, with their scores by the formula.

    Args:
        rarities: Of every term of the question.
        mean: The average length of an entry of the grain.
    """
    numbers = ", ".join(str(pack(hit.key, grain)) for hit in hits)
    query = table.search().where(f"key in ({numbers})").select(["document_id", "seq", "size", grain.value])
    rows = query.limit(len(hits)).to_arrow().to_pylist()
    scored = []
    for row in rows:
        counts = [term.times_in(row[grain.value]) for term in rarities]
        score = _score(counts, list(rarities.values()), row["size"] / mean)
        scored.append(Hit(FragmentKey(row["document_id"], row["seq"]), score))
    return sorted(scored, key=lambda hit: (-hit.score, hit.key))


class Sizes(NamedTuple):
    """How many entries a grain has, and how many words each has on average."""

    entries: int
    mean: float


def sizes(table: Any) -> dict[Grain, Sizes]:
    """Those of every grain, from two columns of numbers: that is quicker than asking for the entries of one."""
    query = table.search().where(f"key > {MARKER}").select(["key", "size"])
    found = query.limit(table.count_rows() + 1).to_arrow()
    grains, words = grain_numbers(found["key"].to_numpy()), found["size"].to_numpy()
    of_grain = {grain: words[grains == number] for number, grain in enumerate(Grain)}
    return {grain: Sizes(len(n), float(n.mean()) if len(n) else 0.0) for grain, n in of_grain.items()}


def _score(counts: Sequence[int], rarities: Sequence[float], length: float) -> float:
    norm = K1 * (1 - B + B * length)
    return sum(
        rarity * count * (K1 + 1) / (count + norm)
        for rarity, count in zip(rarities, counts, strict=True)
        if count
    )
