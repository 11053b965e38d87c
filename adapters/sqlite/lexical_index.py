"""The lexical index in FTS5: its tables, the matches of terms, and the ranking."""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import nlargest
from itertools import chain, groupby
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import apsw

from clawmem.adapters.sqlite.abandoning import broken_tables, empty_fts_table
from clawmem.adapters.sqlite.connections import Row
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.derived_index import Commits, blames_index
from clawmem.adapters.sqlite.keys import pack, span, unpack_all
from clawmem.adapters.sqlite.lru_cache import LruCache
from clawmem.adapters.sqlite.postings import Postings, postings, vocabulary
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.indexes import TITLE_WEIGHT, UnknownWord, selective_terms
from clawmem.ports.records import EVERYTHING, FragmentKey, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term

_SEQ_BITS = 20  # of a packed key
_FAR = 1 << 62
# FTS5 stores the differences of row numbers, so these are as small as the usual number of fragments allows.
_BITS = MappingProxyType({Grain.LINE: 7, Grain.PASSAGE: 4, Grain.SECTION: 7, Grain.DOCUMENT: 0})


class LexicalTable(NamedTuple):
    """
    The table of one granularity.

    A row number is the number of the document followed by ``bits`` bits for the fragment. A fragment beyond these
    bits has its packed key, far from the others.
    """

    name: str
    bits: int

    @property
    def weights(self) -> str:
        """The weights of the columns, for ``bm25()``."""
        return f"1, {TITLE_WEIGHT}"

    @property
    def key(self) -> str:
        """SQL for the packed key of the row ``hits``."""
        near = f"(((hits.rowid >> {self.bits}) << {_SEQ_BITS}) | (hits.rowid & {(1 << self.bits) - 1}))"
        return f"iif(hits.rowid < {_FAR}, {near}, hits.rowid - {_FAR})"

    def row(self, key: FragmentKey) -> int:
        """Return the row number of *key*."""
        if key.seq >> self.bits:
            return _FAR | pack(key)
        return key.document_id << self.bits | key.seq

    def rows_of(self, document_id: int) -> tuple[int, int, int, int]:
        """Return the first and last row numbers of a document, then those of its fragments beyond the bits."""
        first, last = span(document_id)
        return first >> _SEQ_BITS - self.bits, last >> _SEQ_BITS - self.bits, _FAR | first, _FAR | last


TABLES: Mapping[Grain, LexicalTable] = MappingProxyType(
    {grain: LexicalTable(f"lexical_{grain.value}", bits) for grain, bits in _BITS.items()}
)

# Scores come from single precision. Scores equal after this rounding are ties, and ties are ordered by key.
_TIES = 1e9
_NEARLY = 1e-8  # a score lower than the last place by more than this is no tie


class Matches(NamedTuple):
    """The rows that contain a term, and the contribution of the term to the score of each row."""

    keys: array[int]
    scores: array[float]


def best_of(found: Sequence[Matches], limit: int, *, every: bool = False) -> Matches:
    """
    Return the *limit* rows with the highest sums, highest first, then by key.

    Args:
        every: Whether only rows count that are in each element of *found*.
    """
    most, *others = sorted(found, key=lambda matches: -len(matches.keys))
    sums = dict(zip(most.keys, most.scores, strict=True))
    for matches in others:
        for key, score in zip(matches.keys, matches.scores, strict=True):
            sums[key] = sums.get(key, 0.0) + score
    if every and others:
        terms = Counter(chain.from_iterable(matches.keys for matches in found))
        sums = {key: total for key, total in sums.items() if terms[key] >= len(found)}
    least = nlargest(limit, sums.values())[-1] if len(sums) > limit else -math.inf
    near = (row for row in sums.items() if row[1] > least - _NEARLY)
    ranked = sorted(near, key=lambda row: (-round(row[1] * _TIES), row[0]))[:limit]
    return Matches(array("q", [key for key, _ in ranked]), array("d", [total for _, total in ranked]))


_HOLDING = "select (select count(*) from {table} where {table} match asked.value) from json_each(?) as asked"
# The docsize table has one row per entry; counting the virtual table would visit each of its rows.
_ENTRIES = "select count(*) from {table}_docsize union all "
# A cross join, because SQLite does not reorder it: bm25() is computed for one term after the other.
_PARTS = """
select asked.key, {key}, bm25({table}, {weights})
  from json_each(:terms) as asked cross join {table} as hits
 where {table} match asked.value {among}
"""
_EVERY = "select hits.rowid from {table} as hits where {table} match :every {among}"
# The unary plus keeps FTS5 from looking up each row separately: bm25() recounts all matches whenever it
# starts.
_AMONG_KEYS = "and +hits.rowid in (select value from json_each(:keys))"
_LEAST = 1e-6  # the IDF that FTS5 uses for a term in more than half of the rows

MOST_KEPT = 300_000  # cached matches per process, 16 bytes each, for later queries with the same terms

Made = TypeVar("Made")


class _TermCounts(NamedTuple):
    """Document frequency of each query term, number of entries, and id of the index content."""

    terms: Mapping[Term, int]
    entries: int
    content: str | None


class _RowCondition(NamedTuple):
    """A condition on the rows of a query, empty for all rows. Its matches are cached under ``name``, if that is set."""

    sql: str
    bindings: Mapping[str, str] = MappingProxyType({})
    name: tuple[Term, ...] | None = None


_ALL = _RowCondition("", name=())


_NUMBERS: LruCache[int] = LruCache(10_000)
_UNKNOWN: LruCache[UnknownWord | None] = LruCache(20_000, lambda word: 1 + len(word.alike) if word else 1)
_MATCHES: LruCache[Matches] = LruCache(MOST_KEPT, lambda matches: len(matches.keys))


class SqliteLexicalIndex(Commits):
    """
    ``LexicalIndex`` in FTS5, with a contentless table for each granularity.

    FTS5 computes its own IDF, which is almost 0 for frequent terms. Each term is therefore matched
    separately, and its scores are multiplied by the ratio of the common IDF to that of FTS5. The matches of a
    term are cached until the content changes: the content has a random id that every change replaces.
    """

    method = "FTS5"
    in_process = True
    tables = tuple(table.name for table in TABLES.values())
    _role = "lexical"

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._db = db

    @blames_index
    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._changing():
            for grain, table in TABLES.items():
                latest = {table.row(e.key): e for e in entries if e.grain is grain}
                self._db.write_many(f"delete from {table.name} where rowid = ?", [(row,) for row in latest])
                self._db.write_many(
                    f"insert into {table.name} (rowid, title, text) values (?, ?, ?)",
                    [(row, e.title, e.text) for row, e in latest.items()],
                )

    @blames_index
    def remove(self, document_id: int) -> None:
        with self._changing():
            for table in TABLES.values():
                rows = table.rows_of(document_id)
                for ends in (rows[:2], rows[2:]):
                    self._db.write(f"delete from {table.name} where rowid between ? and ?", ends)

    @blames_index
    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        held = self._held(query, grain)
        rarities = {term: math.log1p((held.entries - n + 0.5) / (n + 0.5)) for term, n in held.terms.items()}
        return self._ranked(query, grain, limit, held, rarities, self._documents(grain, *documents_in(scope)))

    @blames_index
    def search_among(
        self,
        documents: Collection[int],
        query: LexicalQuery,
        grain: Grain,
        limit: int,
        scope: Scope,
        rarities: Mapping[Term, float],
    ) -> list[Hit]:
        in_scope, bindings = documents_in(scope)
        some = "select value from json_each(:documents)"
        seen = f"{in_scope} and id in ({some})" if in_scope else some
        among = self._documents(grain, seen, {**bindings, "documents": json.dumps(list(documents))})
        return self._ranked(query, grain, limit, self._held(query, grain), rarities, among)

    @blames_index
    def count(self, grain: Grain) -> int:
        return self._counts([], grain, self._content())[0]

    @blames_index
    def holding(self, term: Term, grain: Grain) -> int:
        return self._counts([term], grain, self._content())[1] if _has_word(term) else 0

    @blames_index
    def unknown_words(self, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
        held = self._held(LexicalQuery(tuple(terms)), Grain.DOCUMENT)
        unknown = [term.text for term, number in held.terms.items() if not number]

        def find(places: Sequence[int]) -> list[UnknownWord | None]:
            missing = [unknown[place] for place in places]
            found = unknown_words_in(self._db, TABLES[Grain.DOCUMENT].name, missing)
            return [found.get(word) for word in missing]

        words = _kept(_UNKNOWN, self._content(), [(word,) for word in unknown], find)
        return {text: word for text, word in zip(unknown, words, strict=True) if word}

    def clear(self) -> None:
        with self._changing():
            for name in self.tables:
                empty_fts_table(self._db, name)
            self._forget_marker()

    @blames_index
    def optimize(self) -> None:
        """Merge the segments of each table into one."""
        for name in self.tables:
            self._db.write(f"insert into {name} ({name}) values ('optimize')")

    def faults(self) -> list[str]:
        fault = ranking_fault(self._db)
        spoilt = [f"{name} is broken" for name in broken_tables(self._db, self.tables)]
        if not spoilt:
            checks = (self._db.rows(f"pragma integrity_check({name})") for name in self.tables)
            spoilt = [f"SQLite: {said}" for rows in checks for (said,) in rows if said != "ok"]
        return [fault, *spoilt] if fault else spoilt

    def postings(self, grain: Grain) -> Postings:
        """Return the digest of the postings of a granularity."""
        return postings(self._db, TABLES[grain].name)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change the content inside a transaction, and give the content a new random id."""
        with self._db.atomic():
            yield
            self._db.write("insert or replace into meta values ('lexical_content', hex(randomblob(8)))")

    def _content(self) -> str | None:
        """Return the id of the current content; ``None`` if it never changed."""
        return self._db.meta("lexical_content")

    def _counts(self, terms: Sequence[Term], grain: Grain, content: str | None) -> list[int]:
        """Return the number of entries, and then of those that hold each term."""
        asked = (None, *terms)

        def count(places: Sequence[int]) -> list[int]:
            counted = [term for place in places if (term := asked[place])]
            sql = (_ENTRIES if 0 in places else "") + _HOLDING
            return [
                n for (n,) in self._db.rows(sql.format(table=TABLES[grain].name), (_expressions(counted),))
            ]

        return _kept(_NUMBERS, content, [(grain, term) for term in asked], count)

    def _held(self, query: LexicalQuery, grain: Grain) -> _TermCounts:
        content = self._content()
        asked = [term for term in dict.fromkeys(query.terms) if _has_word(term)]
        entries, *holding = self._counts(asked, grain, content)
        # Another process may empty the index between two counts; no term may have more matches than there are
        # entries.
        return _TermCounts(dict(zip(asked, holding, strict=True)), max(entries, *holding, 0), content)

    def _ranked(
        self,
        query: LexicalQuery,
        grain: Grain,
        limit: int,
        held: _TermCounts,
        rarities: Mapping[Term, float],
        among: _RowCondition,
    ) -> list[Hit]:
        terms = [term for term, number in held.terms.items() if number]
        if limit < 1 or not terms or (query.every and len(terms) < len(held.terms)):
            return []
        asked = terms if query.every else selective_terms(terms, held.terms)
        if query.every and len(asked) > 1 and not _may_be_cached(asked, held, among):
            among = self._holding_every(asked, grain, among)
        weights = {term: -rarities[term] / _fts5_rarity(held.entries, held.terms[term]) for term in asked}
        found = self._matches(asked, grain, weights, among, held.content)
        best = best_of(found, limit, every=query.every)
        return list(map(Hit, unpack_all(best.keys), best.scores))

    def _documents(self, grain: Grain, seen: str, bindings: Mapping[str, str]) -> _RowCondition:
        """Return a condition for the documents that the query *seen* selects; for all rows if *seen* is empty."""
        # The scope is part of the query instead of a later filter, so a search returns up to *limit* hits.
        key = TABLES[grain].key
        return _RowCondition(f"and {key} >> 20 in ({seen})", bindings) if seen else _ALL

    def _holding_every(self, terms: Sequence[Term], grain: Grain, among: _RowCondition) -> _RowCondition:
        """Return a condition for the rows that contain all of *terms*."""
        every = " AND ".join(map(_expression, terms))
        sql = _EVERY.format(table=TABLES[grain].name, among=among.sql)
        keys = [key for (key,) in self._db.rows(sql, {**among.bindings, "every": every})]
        return _RowCondition(_AMONG_KEYS, {"keys": json.dumps(keys)}, tuple(terms) if among is _ALL else None)

    def _matches(
        self,
        terms: Sequence[Term],
        grain: Grain,
        weights: Mapping[Term, float],
        among: _RowCondition,
        content: str | None,
    ) -> list[Matches]:
        def find(places: Sequence[int]) -> list[Matches]:
            asked = [terms[place] for place in places]
            table = TABLES[grain]
            sql = _PARTS.format(table=table.name, key=table.key, weights=table.weights, among=among.sql)
            rows = self._db.rows(sql, {**among.bindings, "terms": _expressions(asked)})
            found = [Matches(array("q"), array("d")) for _ in asked]
            for nth, of_term in groupby(rows, key=itemgetter(0)):
                found[nth] = _weighted(of_term, weights[asked[nth]])
            return found

        names = [(grain, term, weights[term], among.name) for term in terms]
        return _kept(_MATCHES, None if among.name is None else content, names, find)


def _may_be_cached(asked: Sequence[Term], held: _TermCounts, among: _RowCondition) -> bool:
    """Whether the matches of all these terms may be cached, because a query for any of the terms fetches them all."""
    return (
        held.content is not None and among is _ALL and len(selective_terms(asked, held.terms)) == len(asked)
    )


def _kept(
    kept: LruCache[Made],
    content: str | None,
    names: Sequence[tuple[object, ...]],
    make: Callable[[Sequence[int]], list[Made]],
) -> list[Made]:
    """Return the cached values of *names* in this content. Without a content id nothing is cached."""
    if content is None:
        return make(range(len(names)))
    return kept.get_all([(content, *name) for name in names], make)


def _weighted(rows: Iterable[Row], weight: float) -> Matches:
    of_term = list(rows)
    keys = array("q", map(itemgetter(1), of_term))
    return Matches(keys, array("d", [weight * score for score in map(itemgetter(2), of_term)]))


def ranking_fault(db: Database) -> str | None:
    """
    Return an error text if FTS5 does not give two texts of different relevance different scores, else None.

    An FTS5 table without positions returns -0.0 for every row and raises no error.
    """
    db.write(
        "create virtual table temp.probe using fts5 (text, content='', contentless_delete=1, detail=full)"
    )
    try:
        db.write("insert into temp.probe (rowid, text) values (1, 'one two three'), (2, 'two'), (3, 'four')")
        rows = db.write("select rowid, bm25(probe) from temp.probe where probe match 'two' order by 2")
    finally:
        db.write("drop table temp.probe")
    ranked = [key for key, _ in rows] == [2, 1] and rows[0][1] < rows[1][1] < 0
    return None if ranked else "full-text ranking does not work in this SQLite build (bm25 is constant)"


def _fts5_rarity(entries: int, holding: int) -> float:
    """Return the IDF that FTS5's ``bm25()`` uses."""
    weight = math.log((entries - holding + 0.5) / (holding + 0.5))
    return weight if weight > 0 else _LEAST


def _has_word(term: Term) -> bool:
    return any(sign.isalnum() for sign in term.text)


def _expressions(terms: Iterable[Term]) -> str:
    return json.dumps([_expression(term) for term in terms], ensure_ascii=False)


def _expression(term: Term) -> str:
    # Inside double quotes only the quote itself is syntax; a NUL would end the expression.
    text = term.text.replace("\0", " ").replace('"', '""')
    return f'"{text}"*' if term.prefix else f'"{text}"'


_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])  # of the tables, see the schema
_ALIKE = """\
select first.value, term, doc from json_each(?) as first cross join temp.spellings
where term >= first.value and term < char(unicode(first.value) + 1)"""
_SPREAD = 2  # letters by which the lengths may differ


def unknown_words_in(db: Database, table: str, unknown: Sequence[str]) -> Mapping[str, UnknownWord]:
    """Return the words of *table* with the first letter of each of the *unknown* words, and about its length."""
    if not unknown:
        return {}
    with db.connection() as connection:
        stems = {word: stem for word in unknown if (stem := _stem(connection, word))}
        with vocabulary(connection, "spellings", table, "row"):
            alike = _alike(connection, {stem[0] for stem in stems.values()})
    return {word: UnknownWord(stem, _of_its_length(alike[stem[0]], stem)) for word, stem in stems.items()}


def _alike(connection: apsw.Connection, letters: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
    """Return the stored words with each of these first *letters*, and the number of their documents."""
    found: dict[str, dict[str, int]] = {letter: {} for letter in letters}
    for letter, term, documents in connection.execute(_ALIKE, (json.dumps([*found]),)):
        found[letter][term] = documents
    return found


def _of_its_length(alike: Mapping[str, int], stem: str) -> dict[str, int]:
    return {term: documents for term, documents in alike.items() if abs(len(term) - len(stem)) <= _SPREAD}


def _stem(connection: apsw.Connection, word: str) -> str:
    """Return the form in which FTS5 stores *word*; empty if it would store several words or none."""
    tokenize = connection.fts5_tokenizer(*_TOKENIZER)
    found = [
        *tokenize(
            word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
        )
    ]
    return str(found[0]) if len(found) == 1 else ""
