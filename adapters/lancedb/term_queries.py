"""From terms to the engine's queries: a term is one thing with one rarity, whatever words it stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from clawmem.adapters.lancedb.exact import Wanted, rarity, wanted
from clawmem.ports.records import Grain, LexicalQuery

# A prefix of more words than this says little; the most frequent ones stand for the rest.
WORDS_OF_A_PREFIX = 100


class TermQueries:
    """
    Turns what is asked of one grain into queries for one version of the table.

    The engine knows no prefixes: the words that begin so are read from the column, and each is asked for with
    the rarity that all of them have together.
    """

    def __init__(self, table: Any, grain: Grain) -> None:
        from lancedb import query as module

        self._engine: Any = module  # its classes are dataclasses in a way that a type checker cannot follow
        self._table = table
        self._column = grain.value

    def query(self, asked: LexicalQuery) -> Any | None:
        """All of the terms, or any; ``None`` when nothing can be found."""
        terms = list(filter(None, map(wanted, asked.terms)))
        plain = [term.words[0] for term in terms if len(term.words) == 1 and not term.prefix]
        operator = self._engine.FullTextOperator.AND if asked.every else self._engine.FullTextOperator.OR
        # All plain words in one match: apart, the engine scores each in full before it adds up.
        parts = [self._match(" ".join(plain), operator=operator)] if plain else []
        for term in terms:
            if term.prefix or len(term.words) > 1:
                parts += self._of_term(term)
        if not terms or (asked.every and len(parts) < len(terms) - len(plain) + bool(plain)):
            return None
        return self._joined(parts, every=asked.every)

    def _of_term(self, term: Wanted) -> list[Any]:
        """The query of one term in a list; an empty one when no entry holds it."""
        if not term.prefix:
            return [self._engine.PhraseQuery(" ".join(term.words), self._column)]
        held, wordings = self._wordings(term)
        if not wordings:
            return []
        if len(term.words) > 1:
            phrases = [self._engine.PhraseQuery(wording, self._column) for wording in wordings]
            return [self._joined(phrases, every=False)]
        entries = self._table.count_rows(f"grain = '{self._column}'")
        together = rarity(entries, held)
        matches = [
            self._match(word, boost=together / rarity(entries, number)) for word, number in wordings.items()
        ]
        return [self._joined(matches, every=False)]

    def _wordings(self, term: Wanted) -> tuple[int, dict[str, int]]:
        """How many entries hold a prefix, and how many each of its wordings, the frequent ones first."""
        query = self._table.search().where(term.condition(self._column)).select([self._column])
        texts = query.limit(self._table.count_rows() + 1).to_arrow()[self._column].to_pylist()
        pattern = term.pattern()
        counts = Counter(wording for text in texts for wording in set(pattern.findall(text)))
        return len(texts), dict(counts.most_common(WORDS_OF_A_PREFIX))

    def _match(self, words: str, **rest: Any) -> Any:
        return self._engine.MatchQuery(words, self._column, **rest)

    def _joined(self, parts: Sequence[Any], *, every: bool) -> Any | None:
        if len(parts) < 2:
            return parts[0] if parts else None
        occur = self._engine.Occur.MUST if every else self._engine.Occur.SHOULD
        return self._engine.BooleanQuery([(occur, part) for part in parts])
