"""
Translation of query terms to tantivy's query objects; user input never reaches a query parser.

tantivy scores a phrase with the sum of the IDFs of its words, and each word of a prefix with its own IDF.
Here a term has one IDF, based on the entries that contain it; a boost corrects the difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tantivy import FieldType, Occur, Query, Searcher

from clawmem.adapters.tantivy.grain import (
    AUTHORED,
    COLLECTION,
    DOCUMENT,
    SCHEMA,
    WORDS,
    analyzer,
    count,
    time_number,
)
from clawmem.ports.records import LexicalQuery, Scope, Term

# A prefix of more words than this says little, so every entry that matches scores as if it contained one word
# once at average length. Up to this number the words are searched one by one.
WORDS_OF_A_PREFIX = 100

# Two different words with the same prefix in one entry count almost like one word twice, which BM25 dampens.
_FURTHER_WORDS = 0.2

Phrase = tuple[str, ...]  # consecutive words


class QueryBuilder:
    """Translator of queries for one view of one granularity."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._analyze = analyzer().analyze

    def query(self, query: LexicalQuery, scope: Scope) -> Query | None:
        """Return a query for all terms or any of them within *scope*; ``None`` if no term has a word."""
        occur = Occur.Must if query.every else Occur.Should
        terms = [(occur, self._term(term)) for term in query.terms if self._analyze(term.text)]
        if not terms:
            return None
        filters = [(Occur.Must, Query.const_score_query(condition, 0.0)) for condition in _filters(scope)]
        question = Query.boolean_query(terms)
        return Query.boolean_query([(Occur.Must, question), *filters]) if filters else question

    def holding(self, term: Term) -> int:
        """Return the number of entries that contain *term*."""
        words = tuple(self._analyze(term.text))
        if not words:
            return 0
        phrases = self._phrases(words, prefix=term.prefix)
        return count(self._searcher, _any_ending(words) if phrases is None else _any_of(phrases))

    def _term(self, term: Term) -> Query:
        words = tuple(self._analyze(term.text))
        phrases = self._phrases(words, prefix=term.prefix)
        if phrases is None:
            any_ending = _any_ending(words)
            return Query.const_score_query(any_ending, self._rarity(count(self._searcher, any_ending)))
        if len(words) == len(phrases) == 1:
            return _phrase_query(phrases[0])
        holding = count(self._searcher, _any_of(phrases)) if phrases else 0
        if not holding:
            return Query.empty_query()
        boosted = []
        for phrase in phrases:
            weight = sum(self._rarity(self._searcher.doc_freq(WORDS, word)) for word in phrase)
            boosted.append(Query.boost_query(_phrase_query(phrase), self._rarity(holding) / weight))
        return Query.disjunction_max_query(boosted, _FURTHER_WORDS)

    def _phrases(self, words: Phrase, *, prefix: bool) -> list[Phrase] | None:
        """Return *words*, for a prefix with each ending of the last one; ``None`` if there are too many."""
        if not prefix:
            return [words]
        *first, beginning = words
        endings = self._searcher.terms_with_prefix(WORDS, beginning, limit=WORDS_OF_A_PREFIX + 1)
        return None if len(endings) > WORDS_OF_A_PREFIX else [(*first, ending) for ending, _ in endings]

    def _rarity(self, holding: int) -> float:
        entries = self._searcher.num_docs
        holding = min(holding, entries)
        return math.log1p((entries - holding + 0.5) / (holding + 0.5))


def _filters(scope: Scope) -> list[Query]:
    filters = []
    if scope.collections:
        filters.append(Query.term_set_query(SCHEMA, COLLECTION, sorted(scope.collections)))
    if scope.authored_from is not None or scope.authored_until is not None:
        since, until = (t and time_number(t) for t in (scope.authored_from, scope.authored_until))
        filters.append(
            # tantivy requires include_upper for an open end
            Query.range_query(SCHEMA, AUTHORED, FieldType.Integer, since, until, include_upper=until is None)
        )
    if scope.documents is not None:
        filters.append(Query.term_set_query(SCHEMA, DOCUMENT, sorted(scope.documents)))
    return filters


def _phrase_query(phrase: Phrase) -> Query:
    if len(phrase) == 1:
        return Query.term_query(SCHEMA, WORDS, phrase[0], index_option="freq")
    return Query.phrase_query(SCHEMA, WORDS, list(phrase))


def _any_of(phrases: Sequence[Phrase]) -> Query:
    return Query.boolean_query([(Occur.Should, _phrase_query(phrase)) for phrase in phrases])


def _any_ending(words: Phrase) -> Query:
    # Words consist of letters and digits, so nothing needs to be escaped.
    *first, beginning = words
    pattern = f"{beginning}.*"
    if first:
        return Query.regex_phrase_query(SCHEMA, WORDS, [*first, pattern])
    return Query.regex_query(SCHEMA, WORDS, pattern)
