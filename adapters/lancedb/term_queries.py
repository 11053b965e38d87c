"""Translation of query terms to LanceDB's queries, with one IDF per term even if it matches several words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from clawmem.adapters.lancedb.exact import EntrySizes, StemmedTerm, idf, sizes, stemmed_term
from clawmem.adapters.lancedb.quick_table import QuickTable
from clawmem.adapters.lancedb.vocabulary import beginning_with
from clawmem.ports.lexical_index import selective_terms
from clawmem.ports.records import Grain, LexicalQuery

# A prefix of more words than this says little; its most frequent words in a sample of lines represent the
# rest.
WORDS_OF_A_PREFIX = 100
_SOME_LINES = 2_000

Memo = dict[object, Any]
Value = TypeVar("Value")


class WordingCounts(NamedTuple):
    """Number of entries that contain a term, and estimated number for each of its wordings."""

    held: int
    counts: Mapping[str, int]


class TermQueries:
    """
    Translator of queries at one granularity, for one version of the table.

    LanceDB has no prefix queries, so every word with the prefix is searched, with the IDF of the prefix as a
    whole.

    Args:
        memo: Cache of numbers about this version, because one query needs the same numbers several times.
    """

    def __init__(self, table: Any, grain: Grain, memo: Memo) -> None:
        self._engine = _classes_for(table)
        self._table = table
        self._grain = grain
        self._memo = memo

    def asked(self, query: LexicalQuery) -> list[StemmedTerm]:
        """Return the terms to search for; none if there can be no hit."""
        terms = list(dict.fromkeys(filter(None, map(stemmed_term, query.terms))))
        held = {term: number for term in terms if (number := self.held(term))}
        if query.every:
            return terms if len(held) == len(terms) else []
        return selective_terms(list(held), held)

    def query(self, terms: Sequence[StemmedTerm], *, every: bool) -> Any:
        """Return a query for all of *terms* if *every* is true, otherwise for any of them; *terms* is not empty."""
        plain = [term.words[0] for term in terms if len(term.words) == 1 and not term.prefix]
        operator = self._engine.FullTextOperator.AND if every else self._engine.FullTextOperator.OR
        # All single words go into one match; in separate matches LanceDB scores each in full before summing.
        parts = [self._match(" ".join(plain), self._grain, operator=operator)] if plain else []
        parts += [self._of_term(term) for term in terms if term.prefix or len(term.words) > 1]
        return self._joined(parts, every=every)

    def held(self, term: StemmedTerm) -> int:
        """Return the number of entries that contain *term*."""
        return self._wordings(term).held

    def idf(self, term: StemmedTerm) -> float:
        """Return the IDF of *term*."""
        return idf(self._sizes().entries, self.held(term))

    def mean_size(self) -> float:
        """Return the average number of words of an entry."""
        return self._sizes().mean

    def _of_term(self, term: StemmedTerm) -> Any:
        """Return the query for a prefix or for several words."""
        counts = self._wordings(term).counts
        if len(term.words) > 1:
            return self._joined([self._phrase(wording, self._grain) for wording in counts], every=False)
        together, entries = self.idf(term), self._sizes().entries
        matches = [
            self._match(word, self._grain, boost=together / idf(entries, number))
            for word, number in counts.items()
        ]
        return self._joined(matches, every=False)

    # -- numbers ----------------------------------------------------------------------------------------

    def _sizes(self) -> EntrySizes:
        found: dict[Grain, EntrySizes] = self._once("sizes", lambda: sizes(self._table))
        return found[self._grain]

    def _wordings(self, term: StemmedTerm) -> WordingCounts:
        return self._once((self._grain, term), lambda: self._looked_up(term))

    def _looked_up(self, term: StemmedTerm) -> WordingCounts:
        """Count the entries of *term*; the counts of single wordings of a prefix are estimated from a sample."""
        if not term.prefix:
            wording = " ".join(term.words)
            held = self._holding([wording])
            return WordingCounts(held, {wording: held})
        shares = self._once(("shares", term), lambda: self._shares(term))
        held = self._holding(list(shares))
        return WordingCounts(
            held, {wording: max(1, round(held * share)) for wording, share in shares.items()}
        )

    def _shares(self, term: StemmedTerm) -> dict[str, float]:
        """Return the wordings of a prefix, each with its share of a sample of lines that contain one."""
        *first, beginning = term.words
        endings = beginning_with(self._table, beginning, WORDS_OF_A_PREFIX + 1)
        if len(endings) > WORDS_OF_A_PREFIX:
            texts = self._with_many_wordings(term, Grain.LINE) or self._with_many_wordings(term, self._grain)
            return dict(_shares(term, texts).most_common(WORDS_OF_A_PREFIX))
        wordings = [" ".join((*first, ending)) for ending in endings]
        shares = _shares(term, self._with_any(wordings, Grain.LINE))
        return {wording: shares[wording] for wording in wordings}

    def _with_many_wordings(self, term: StemmedTerm, grain: Grain) -> list[str]:
        """Return texts that contain *term*."""
        query = self._table.search().where(term.condition(grain.value))
        return _texts(query, grain)

    def _with_any(self, wordings: Sequence[str], grain: Grain) -> list[str]:
        """Return texts that contain one of *wordings*."""
        return _texts(self._any_of(wordings, grain), grain) if wordings else []

    def _holding(self, wordings: Sequence[str]) -> int:
        """
        Return the number of entries that contain any of *wordings*, from the index, fifty times faster than a
        scan.
        """
        if not wordings:
            return 0
        query = self._any_of(wordings, self._grain).select(["_score"])
        return int(query.limit(self._table.count_rows() + 1).to_arrow().num_rows)

    def _once(self, about: object, look_up: Callable[[], Value]) -> Value:
        if about not in self._memo:
            self._memo[about] = look_up()
        value: Value = self._memo[about]
        return value

    # -- LanceDB's queries ------------------------------------------------------------------------------

    def _any_of(self, wordings: Sequence[str], grain: Grain) -> Any:
        """Return a search for the entries that contain any of *wordings*, which must not be empty."""
        words = [wording for wording in wordings if " " not in wording]
        parts = [self._phrase(wording, grain) for wording in wordings if " " in wording]
        parts += [self._match(" ".join(words), grain)] if words else []
        return self._table.search(self._joined(parts, every=False), query_type="fts")

    def _match(self, words: str, grain: Grain, **rest: Any) -> Any:
        return self._engine.MatchQuery(words, grain.value, **rest)

    def _phrase(self, words: str, grain: Grain) -> Any:
        return self._engine.PhraseQuery(words, grain.value)

    def _joined(self, parts: Sequence[Any], *, every: bool) -> Any:
        if len(parts) == 1:
            return parts[0]
        occur = self._engine.Occur.MUST if every else self._engine.Occur.SHOULD
        return self._engine.BooleanQuery([(occur, part) for part in parts])


def _texts(query: Any, grain: Grain) -> list[str]:
    found: list[str] = query.select([grain.value]).limit(_SOME_LINES).to_arrow()[grain.value].to_pylist()
    return found


def _shares(term: StemmedTerm, texts: Sequence[str]) -> Counter[str]:
    """Return the share of *texts* in which each wording of a prefix occurs."""
    pattern = term.pattern()
    held = Counter(wording.lstrip() for text in texts for wording in set(pattern.findall(text)))
    return Counter({wording: number / len(texts) for wording, number in held.items()})


def _classes_for(table: Any) -> Any:
    """Return the query classes that *table* accepts."""
    if isinstance(table, QuickTable):
        return table.text_queries
    from lancedb import query

    return query
