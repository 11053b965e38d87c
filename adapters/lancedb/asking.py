"""From terms to the engine's queries: a term is one thing with one rarity, whatever words it stands for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from clawmem.adapters.lancedb.words import stems
from clawmem.domain.retrieval.bm25 import rarity
from clawmem.ports.records import Grain, LexicalQuery, Term

# A prefix of more words than this says little; the most frequent ones stand for the rest.
WORDS_OF_A_PREFIX = 100


class Asking:
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
        terms = [(words, term.prefix) for term in asked.terms if (words := stems(term.text))]
        plain = [words[0] for words, prefix in terms if len(words) == 1 and not prefix]
        operator = self._engine.FullTextOperator.AND if asked.every else self._engine.FullTextOperator.OR
        # All plain words in one match: apart, the engine scores each in full before it adds up.
        parts = [self._match(" ".join(plain), operator=operator)] if plain else []
        for words, prefix in terms:
            if prefix or len(words) > 1:
                parts += self._of_term(words, prefix)
        if not terms or (asked.every and len(parts) < len(terms) - len(plain) + bool(plain)):
            return None
        return self._joined(parts, every=asked.every)

    def holding(self, term: Term) -> int:
        """How many entries hold *term*."""
        words = stems(term.text)
        return int(self._table.count_rows(self._holds(words, term.prefix))) if words else 0

    def _of_term(self, words: Sequence[str], prefix: bool) -> list[Any]:
        """The query of one term in a list; an empty one when no entry holds it."""
        if not prefix:
            return [self._engine.PhraseQuery(" ".join(words), self._column)]
        held, wordings = self._wordings(words)
        if not wordings:
            return []
        if len(words) > 1:
            phrases = [self._engine.PhraseQuery(wording, self._column) for wording in wordings]
            return [self._joined(phrases, every=False)]
        entries = self._table.count_rows(f"grain = '{self._column}'")
        together = rarity(entries, held)
        matches = [
            self._match(word, boost=together / rarity(entries, number)) for word, number in wordings.items()
        ]
        return [self._joined(matches, every=False)]

    def _wordings(self, words: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many entries hold words with that beginning, and how many each of the wordings, frequent ones first."""
        query = self._table.search().where(self._holds(words, prefix=True)).select([self._column])
        texts = query.limit(self._table.count_rows() + 1).to_arrow()[self._column].to_pylist()
        pattern = re.compile(rf"(?<= ){' '.join(words)}[^ ]*")
        counts = Counter(wording for text in texts for wording in set(pattern.findall(text)))
        return len(texts), dict(counts.most_common(WORDS_OF_A_PREFIX))

    def _holds(self, words: Sequence[str], prefix: bool) -> str:
        # Words are letters and digits, so there is nothing in them to be escaped.
        return f"{self._column} like '% {' '.join(words)}{'%' if prefix else ' %'}'"

    def _match(self, words: str, **rest: Any) -> Any:
        return self._engine.MatchQuery(words, self._column, **rest)

    def _joined(self, parts: Sequence[Any], *, every: bool) -> Any | None:
        if len(parts) < 2:
            return parts[0] if parts else None
        occur = self._engine.Occur.MUST if every else self._engine.Occur.SHOULD
        return self._engine.BooleanQuery([(occur, part) for part in parts])
