"""From terms to the engine's queries: a term is one thing with one rarity, whatever words it stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from clawmem.adapters.lancedb.exact import Sizes, Wanted, rarity, sizes, wanted
from clawmem.adapters.lancedb.quick_table import QuickTable
from clawmem.adapters.lancedb.vocabulary import beginning_with
from clawmem.ports.records import Grain, LexicalQuery
from clawmem.ports.term_selection import selective_terms

# A prefix of more words than this says little; those that are frequent in some lines stand for the rest.
WORDS_OF_A_PREFIX = 100
_SOME_LINES = 2_000

Memo = dict[object, Any]
Value = TypeVar("Value")


class Wordings(NamedTuple):
    """How many entries hold a term, and how many each of the wordings that occur."""

    held: int
    counts: Mapping[str, int]


class TermQueries:
    """
    Turns what is asked of one grain into queries for one version of the table.

    The engine knows no prefixes: each word that begins so is asked for, with the rarity that all of them have together.

    Args:
        memo: Remembers numbers about this version: one question needs the same ones several times.
    """

    def __init__(self, table: Any, grain: Grain, memo: Memo) -> None:
        self._engine = _classes_for(table)
        self._table = table
        self._grain = grain
        self._memo = memo

    def asked(self, query: LexicalQuery) -> list[Wanted]:
        """The terms to be looked for; none when nothing can be found."""
        terms = list(dict.fromkeys(filter(None, map(wanted, query.terms))))
        held = {term: number for term in terms if (number := self.held(term))}
        if query.every:
            return terms if len(held) == len(terms) else []
        return selective_terms(list(held), held)

    def query(self, terms: Sequence[Wanted], *, every: bool) -> Any:
        """All of *terms*, at least one, or any of them."""
        plain = [term.words[0] for term in terms if len(term.words) == 1 and not term.prefix]
        operator = self._engine.FullTextOperator.AND if every else self._engine.FullTextOperator.OR
        # All plain words in one match: apart, the engine scores each in full before it adds up.
        parts = [self._match(" ".join(plain), self._grain, operator=operator)] if plain else []
        parts += [self._of_term(term) for term in terms if term.prefix or len(term.words) > 1]
        return self._joined(parts, every=every)

    def held(self, term: Wanted) -> int:
        """How many entries hold *term*."""
        return self._wordings(term).held

    def rarity(self, term: Wanted) -> float:
        """How much one more entry with *term* tells."""
        return rarity(self._sizes().entries, self.held(term))

    def mean_size(self) -> float:
        """How many words an entry has on average."""
        return self._sizes().mean

    def _of_term(self, term: Wanted) -> Any:
        """The query of a prefix or of several words."""
        counts = self._wordings(term).counts
        if len(term.words) > 1:
            return self._joined([self._phrase(wording, self._grain) for wording in counts], every=False)
        together, entries = self.rarity(term), self._sizes().entries
        matches = [
            self._match(word, self._grain, boost=together / rarity(entries, number))
            for word, number in counts.items()
        ]
        return self._joined(matches, every=False)

    # -- numbers ----------------------------------------------------------------------------------------

    def _sizes(self) -> Sizes:
        found: dict[Grain, Sizes] = self._once("sizes", lambda: sizes(self._table))
        return found[self._grain]

    def _wordings(self, term: Wanted) -> Wordings:
        return self._once((self._grain, term), lambda: self._looked_up(term))

    def _looked_up(self, term: Wanted) -> Wordings:
        """The numbers of entries with a single wording of a prefix are estimates, from their shares of some lines."""
        if not term.prefix:
            wording = " ".join(term.words)
            held = self._holding([wording])
            return Wordings(held, {wording: held})
        shares = self._once(("shares", term), lambda: self._shares(term))
        held = self._holding(list(shares))
        return Wordings(held, {wording: max(1, round(held * share)) for wording, share in shares.items()})

    def _shares(self, term: Wanted) -> dict[str, float]:
        """The wordings of a prefix, each with its share of some lines that hold one."""
        *first, beginning = term.words
        endings = beginning_with(self._table, beginning, WORDS_OF_A_PREFIX + 1)
        if len(endings) > WORDS_OF_A_PREFIX:
            texts = self._with_many_wordings(term, Grain.LINE) or self._with_many_wordings(term, self._grain)
            return dict(_shares(term, texts).most_common(WORDS_OF_A_PREFIX))
        wordings = [" ".join((*first, ending)) for ending in endings]
        shares = _shares(term, self._with_any(wordings, Grain.LINE))
        return {wording: shares[wording] for wording in wordings}

    def _with_many_wordings(self, term: Wanted, grain: Grain) -> list[str]:
        """Texts that hold *term*."""
        query = self._table.search().where(term.condition(grain.value))
        return _texts(query, grain)

    def _with_any(self, wordings: Sequence[str], grain: Grain) -> list[str]:
        """Texts that hold one of *wordings*."""
        return _texts(self._any_of(wordings, grain), grain) if wordings else []

    def _holding(self, wordings: Sequence[str]) -> int:
        """How many entries hold any of *wordings*: the engine's index knows it fifty times faster than a scan."""
        if not wordings:
            return 0
        query = self._any_of(wordings, self._grain).select(["_score"])
        return int(query.limit(self._table.count_rows() + 1).to_arrow().num_rows)

    def _once(self, about: object, look_up: Callable[[], Value]) -> Value:
        if about not in self._memo:
            self._memo[about] = look_up()
        value: Value = self._memo[about]
        return value

    # -- the engine's queries ---------------------------------------------------------------------------

    def _any_of(self, wordings: Sequence[str], grain: Grain) -> Any:
        """A search for the entries that hold any of *wordings*, at least one."""
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


def _shares(term: Wanted, texts: Sequence[str]) -> Counter[str]:
    """In which share of *texts* each wording of a prefix stands."""
    pattern = term.pattern()
    held = Counter(wording.lstrip() for text in texts for wording in set(pattern.findall(text)))
    return Counter({wording: number / len(texts) for wording, number in held.items()})


def _classes_for(table: Any) -> Any:
    """The classes of queries that *table* takes."""
    if isinstance(table, QuickTable):
        return table.text_queries
    from lancedb import query

    return query
