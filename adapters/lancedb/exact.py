"""BM25 by the formula of the port, for all entries of a small table and for the candidates of a large one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.adapters.lancedb.translation import MARKER, grain_numbers, pack
from clawmem.adapters.lancedb.vocabulary import stems
from clawmem.ports.lexical_index import K1, B
from clawmem.ports.records import FragmentKey, Grain, Hit, LexicalQuery, Term


class StemmedTerm(NamedTuple):
    """A query term as consecutive stems; the last one may be a prefix of a word."""

    words: tuple[str, ...]
    prefix: bool

    def condition(self, column: str) -> str:
        """Return LanceDB's filter for the entries that contain the term."""
        # Stems consist of letters and digits, so nothing needs to be escaped.
        return f"{column} like '% {' '.join(self.words)}{'%' if self.prefix else ' %'}'"

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern for each occurrence of the term in an entry, with the space before it."""
        return re.compile(f" {' '.join(self.words)}{'[^ ]*' if self.prefix else ''}(?= )")

    def times_in(self, text: str) -> int:
        """Return the number of occurrences in *text*."""
        words = f" {' '.join(self.words)}"
        if self.prefix:
            return text.count(words)
        # Two adjacent occurrences share a space, which count() would use for only one of them.
        return len(self.pattern().findall(text)) if f"{words}{words} " in text else text.count(f"{words} ")


def stemmed_term(term: Term) -> StemmedTerm | None:
    """Return the stems of *term*; ``None`` for a term without a letter or digit."""
    words = tuple(stems(term.text))
    return StemmedTerm(words, term.prefix) if words else None


def scored(table: Any, query: LexicalQuery, grain: Grain, limit: int, where: str | None) -> list[Hit]:
    """
    Return the best hits of a granularity by the formula of the port, with exact lengths and IDF.

    Args:
        where: The condition of a scope. It limits the hits, not the statistics.
    """
    terms = list(dict.fromkeys(filter(None, map(stemmed_term, query.terms))))
    if limit < 1 or not terms:
        return []
    rows = _holding_any(table, terms, grain, where)
    counts = [[term.times_in(row["text"]) for term in terms] for row in rows]
    held = [sum(map(bool, column)) for column in zip(*counts, strict=True)] if counts else [0] * len(terms)
    if query.every and not all(held):
        return []
    entries, mean = sizes(table)[grain]
    idfs = [idf(entries, number) for number in held]
    hits = [
        Hit(FragmentKey(row["document_id"], row["seq"]), _score(count, idfs, row["size"] / mean))
        for row, count in zip(rows, counts, strict=True)
        if row["within"] and (all(count) if query.every else any(count))
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def idf(entries: int, holding: int) -> float:
    """Return the IDF of a term; see the formula of the port."""
    return math.log1p((entries - holding + 0.5) / (holding + 0.5))


def _holding_any(
    table: Any, terms: Sequence[StemmedTerm], grain: Grain, where: str | None
) -> list[dict[str, Any]]:
    either = " or ".join(term.condition(grain.value) for term in terms)
    columns = {name: name for name in ("document_id", "seq", "size")}
    columns |= {"text": grain.value, "within": f"({where})" if where else "true"}
    query = table.search().where(f"grain = '{grain.value}' and ({either})").select(columns)
    found: list[dict[str, Any]] = query.limit(table.count_rows() + 1).to_arrow().to_pylist()
    return found


def rescored(
    table: Any, hits: Sequence[Hit], grain: Grain, idfs: Mapping[StemmedTerm, float], mean: float
) -> list[Hit]:
    """
    Recompute the scores of LanceDB's hits by the formula; LanceDB counts a repeated title as length.

    Args:
        idfs: IDF of every term of the query.
        mean: Average length of an entry of this granularity.
    """
    numbers = ", ".join(str(pack(hit.key, grain)) for hit in hits)
    query = table.search().where(f"key in ({numbers})").select(["document_id", "seq", "size", grain.value])
    rows = query.limit(len(hits)).to_arrow().to_pylist()
    scored = []
    for row in rows:
        counts = [term.times_in(row[grain.value]) for term in idfs]
        score = _score(counts, list(idfs.values()), row["size"] / mean)
        scored.append(Hit(FragmentKey(row["document_id"], row["seq"]), score))
    return sorted(scored, key=lambda hit: (-hit.score, hit.key))


class EntrySizes(NamedTuple):
    """Number of entries of a granularity, and their average number of words."""

    entries: int
    mean: float


def sizes(table: Any) -> dict[Grain, EntrySizes]:
    """Return the sizes of all granularities from two numeric columns, which is faster than reading one granularity."""
    query = table.search().where(f"key > {MARKER}").select(["key", "size"])
    found = query.limit(table.count_rows() + 1).to_arrow()
    grains, words = grain_numbers(found["key"].to_numpy()), found["size"].to_numpy()
    of_grain = {grain: words[grains == number] for number, grain in enumerate(Grain)}
    return {grain: EntrySizes(len(n), float(n.mean()) if len(n) else 0.0) for grain, n in of_grain.items()}


def _score(counts: Sequence[int], idfs: Sequence[float], length: float) -> float:
    norm = K1 * (1 - B + B * length)
    return sum(
        idf * count * (K1 + 1) / (count + norm) for idf, count in zip(idfs, counts, strict=True) if count
    )
