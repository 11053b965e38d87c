"""
Translation of query terms to tantivy's query objects; user input never reaches a query parser.

tantivy scores a phrase with the sum of the IDFs of its words, and each word of a prefix with its own IDF.
Here a term has one IDF, based on the entries that contain it; a boost corrects the difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tantivy import FieldType, Occur, Query, Searcher

from clawmem.adapters.tantivy.changes import count
from clawmem.adapters.tantivy.entries import (
    AUTHORED,
    COLLECTION,
    DOCUMENT,
    WORDS,
    analyzer,
    schema,
    time_number,
)
from clawmem.ports.records import LexicalQuery, Scope, Term

# A prefix of more words than this says little, so every entry that matches scores as if it contained one word
# once at average length. Up to this number the words are searched one by one, the frequent ones first.
WORDS_OF_A_PREFIX = 100

# Two different words with the same prefix in one entry count almost like one word twice, which BM25 dampens.
_FURTHER_WORDS = 0.2

# Counting the entries with a word takes time in proportion to their number. Above this number the deleted
# entries that tantivy's own figure includes make no relevant difference.
_COUNTED_UP_TO = 10_000


class _Wording(NamedTuple):
    """One way in which a term can occur: consecutive words."""

    words: tuple[str, ...]

    @property
    def query(self) -> Query:
        if len(self.words) == 1:
            return Query.term_query(_SCHEMA, WORDS, self.words[0], index_option="freq")
        return Query.phrase_query(_SCHEMA, WORDS, list(self.words))


class QueryBuilder:
    """Translator of queries for one view of one granularity."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._analyze = analyzer().analyze

    def query(self, asked: LexicalQuery) -> Query | None:
        """Return a query for all terms or any of them; ``None`` if no term has a word."""
        terms = [self._scored(words, term.prefix) for term in asked.terms if (words := self._words(term))]
        occur = Occur.Must if asked.every else Occur.Should
        return Query.boolean_query([(occur, term) for term in terms]) if terms else None

    def holding(self, term: Term) -> int:
        """Return the number of entries that contain *term*."""
        words = self._words(term)
        if not words:
            return 0
        if len(words) == 1 and not term.prefix:
            return self._holding_word(words[0])
        wordings = self._wordings(words) if term.prefix else [_Wording(words)]
        return self._count(_any_ending(words) if wordings is None else _any(wordings))

    def _words(self, term: Term) -> tuple[str, ...]:
        return tuple(self._analyze(term.text))

    def _scored(self, words: tuple[str, ...], prefix: bool) -> Query:
        wordings = self._wordings(words) if prefix else [_Wording(words)]
        if wordings is None:
            anywhere = _any_ending(words)
            return Query.const_score_query(anywhere, self._rarity(self._count(anywhere)))
        if len(wordings) == 1 and len(words) == 1:
            return wordings[0].query
        return self._as_one(wordings)

    def _wordings(self, words: tuple[str, ...]) -> list[_Wording] | None:
        """Return *words* with each existing completion of the last one; ``None`` if there are too many."""
        *first, beginning = words
        found = self._searcher.terms_with_prefix(WORDS, beginning, limit=WORDS_OF_A_PREFIX + 1)
        if len(found) > WORDS_OF_A_PREFIX:
            return None
        return [_Wording((*first, ending)) for ending, _ in found]

    def _as_one(self, wordings: Sequence[_Wording]) -> Query:
        held = self._count(_any(wordings)) if wordings else 0
        if not held:
            return Query.empty_query()
        rarity = self._rarity(held)
        boosted = [Query.boost_query(one.query, rarity / self._weight(one)) for one in wordings]
        return Query.disjunction_max_query(boosted, _FURTHER_WORDS)

    def _weight(self, wording: _Wording) -> float:
        """Return the IDF that tantivy uses for a wording."""
        return sum(self._rarity(self._searcher.doc_freq(WORDS, word)) for word in wording.words)

    def _rarity(self, holding: int) -> float:
        entries = self._searcher.num_docs
        holding = min(holding, entries)
        return math.log1p((entries - holding + 0.5) / (holding + 0.5))

    def _holding_word(self, word: str) -> int:
        about = self._searcher.doc_freq(WORDS, word)
        if about <= _COUNTED_UP_TO:
            return self._count(_Wording((word,)).query)
        return min(about, self._searcher.num_docs)

    def _count(self, query: Query) -> int:
        return count(self._searcher, query)


def within(query: Query, scope: Scope) -> Query:
    """Return *query* limited to the entries in *scope*, with the same scores."""
    filters = _filters(scope)
    if not filters:
        return query
    silent = [(Occur.Must, Query.const_score_query(one, 0.0)) for one in filters]
    return Query.boolean_query([(Occur.Must, query), *silent])


def _filters(scope: Scope) -> list[Query]:
    filters = []
    if scope.collections:
        filters.append(Query.term_set_query(_SCHEMA, COLLECTION, sorted(scope.collections)))
    if scope.authored_from is not None or scope.authored_until is not None:
        filters.append(_authored(scope.authored_from, scope.authored_until))
    if scope.documents is not None:
        filters.append(Query.term_set_query(_SCHEMA, DOCUMENT, sorted(scope.documents)))
    return filters


def _authored(since: str | None, until: str | None) -> Query:
    return Query.range_query(
        _SCHEMA,
        AUTHORED,
        FieldType.Integer,
        None if since is None else time_number(since),
        None if until is None else time_number(until),
        include_upper=until is None,  # tantivy requires this for an open end
    )


def _any(wordings: Sequence[_Wording]) -> Query:
    return Query.boolean_query([(Occur.Should, one.query) for one in wordings])


def _any_ending(words: tuple[str, ...]) -> Query:
    # Words consist of letters and digits, so nothing needs to be escaped.
    *first, beginning = words
    pattern = f"{beginning}.*"
    if first:
        return Query.regex_phrase_query(_SCHEMA, WORDS, [*first, pattern])
    return Query.regex_query(_SCHEMA, WORDS, pattern)


_SCHEMA = schema()
