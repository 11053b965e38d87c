from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TypeVar

from clawmem.adapters.sqlite.abandoning import broken_tables, emptied
from clawmem.adapters.sqlite.blaming import blames_index
from clawmem.adapters.sqlite.commits import Commits
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.kept import Kept
from clawmem.adapters.sqlite.keys import pack, span, unpack_all
from clawmem.adapters.sqlite.matches import Matches, best_of
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.lexical_index import TITLE_WEIGHT
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term
from clawmem.ports.term_selection import selective_terms

# bm25() only works in the query that matches, so each term has a query of its own.
_PART = "select rowid, :weight * bm25({table}, {title}, 1) from {table} where {table} match :term {among}"
_EVERY = "select rowid from {table} where {table} match :every {among}"
# The sign keeps FTS5 from looking each row up by itself: bm25() counts all matches anew whenever it is begun.
_AMONG_KEYS = "and +rowid in (select value from json_each(:keys))"
_LEAST = 1e-6  # what FTS5 takes for the rarity of a term that more than half of the rows hold

MOST_KEPT = 300_000  # matches, 16 bytes each, that a process keeps for the next question with the same words

Made = TypeVar("Made")


class _Held(NamedTuple):
    """How many entries hold each term of a question, and how many entries there are, in which content."""

    terms: Mapping[Term, int]
    entries: int
    content: str | None


class _Among(NamedTuple):
    """A condition on the rows of a query, empty for all of them; what it lets in is kept under its ``name``, if any."""

    sql: str
    bindings: Mapping[str, str] = MappingProxyType({})
    name: tuple[Term, ...] | None = None


_ALL = _Among("", name=())


_NUMBERS: Kept[int] = Kept(10_000)
_MATCHES: Kept[Matches] = Kept(MOST_KEPT, lambda matches: len(matches.keys))


class SqliteLexicalIndex(Commits):
    """
    ``LexicalIndex`` in FTS5, a contentless table for each grain.

    FTS5 scores with a rarity of its own, which turns to nothing for frequent words. Each term is asked for
    by itself, and its scores are multiplied by what makes its rarity everybody else's. What was found for a term
    is kept as long as the content is the same: it has a name, which changes with every change.
    """

    method = "FTS5"
    in_process = True
    tables = tuple(f"lexical_{grain.value}" for grain in Grain)
    _role = "lexical"

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._db = db

    @blames_index
    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._changing():
            for grain in Grain:
                latest = {pack(e.key): (e.title, e.text) for e in entries if e.grain is grain}
                rows = [(key, *texts) for key, texts in latest.items()]
                self._db.write_many(
                    f"delete from {_table(grain)} where rowid = ?", [(row[0],) for row in rows]
                )
                self._db.write_many(
                    f"insert into {_table(grain)} (rowid, title, text) values (?, ?, ?)", rows
                )

    @blames_index
    def remove(self, document_id: int) -> None:
        with self._changing():
            for grain in Grain:
                self._db.write(f"delete from {_table(grain)} where rowid between ? and ?", span(document_id))

    @blames_index
    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        held = self._held(query, grain)
        rarities = {term: math.log1p((held.entries - n + 0.5) / (n + 0.5)) for term, n in held.terms.items()}
        return self._ranked(query, grain, limit, held, rarities, _documents(*documents_in(scope)))

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
        """See `clawmem.ports.lexical_index.LexicalTail.search_among`."""
        in_scope, bindings = documents_in(scope)
        some = "select value from json_each(:documents)"
        seen = f"{in_scope} and id in ({some})" if in_scope else some
        among = _documents(seen, {**bindings, "documents": json.dumps(list(documents))})
        return self._ranked(query, grain, limit, self._held(query, grain), rarities, among)

    @blames_index
    def count(self, grain: Grain) -> int:
        return self._count(grain, self._content())

    @blames_index
    def holding(self, term: Term, grain: Grain) -> int:
        return self._holding(term, grain, self._content()) if _has_word(term) else 0

    def clear(self) -> None:
        with self._changing():
            for grain in Grain:
                emptied(self._db, _table(grain))
            self._forget_marker()

    @blames_index
    def optimize(self) -> None:
        """Merge each table's segments into one."""
        for grain in Grain:
            self._db.write(f"insert into {_table(grain)} ({_table(grain)}) values ('optimize')")

    def faults(self) -> list[str]:
        fault = ranking_fault(self._db)
        spoilt = [f"{name} is broken" for name in broken_tables(self._db, self.tables)]
        if not spoilt:
            checks = (self._db.rows(f"pragma integrity_check({_table(grain)})") for grain in Grain)
            spoilt = [f"SQLite: {said}" for rows in checks for (said,) in rows if said != "ok"]
        return [fault, *spoilt] if fault else spoilt

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """A change of the content, which gives it a name that no other content ever had."""
        with self._db.atomic():
            yield
            self._db.write("insert or replace into meta values ('lexical_content', hex(randomblob(8)))")

    def _content(self) -> str | None:
        """The name of what is there now; ``None`` when it has not changed since contents have names."""
        name = self._db.value("select value from meta where name = 'lexical_content'")
        return name and str(name)

    def _count(self, grain: Grain, content: str | None) -> int:
        # The docsize table has one row an entry; counting the virtual table would visit each.
        sql = f"select count(*) from {_table(grain)}_docsize"
        return _kept(_NUMBERS, (content, grain), lambda: int(self._db.value(sql)))

    def _holding(self, term: Term, grain: Grain, content: str | None) -> int:
        sql = f"select count(*) from {_table(grain)} where {_table(grain)} match ?"
        return _kept(_NUMBERS, (content, grain, term), lambda: int(self._db.value(sql, (_expression(term),))))

    def _held(self, query: LexicalQuery, grain: Grain) -> _Held:
        content = self._content()
        asked = [term for term in dict.fromkeys(query.terms) if _has_word(term)]
        terms = {term: self._holding(term, grain, content) for term in asked}
        # Another process may empty the index between two counts; no term is held by more than all.
        return _Held(terms, max(self._count(grain, content), *terms.values(), 0), content)

    def _ranked(
        self,
        query: LexicalQuery,
        grain: Grain,
        limit: int,
        held: _Held,
        rarities: Mapping[Term, float],
        among: _Among,
    ) -> list[Hit]:
        terms = [term for term, number in held.terms.items() if number]
        if limit < 1 or not terms or (query.every and len(terms) < len(held.terms)):
            return []
        asked = terms if query.every else selective_terms(terms, held.terms)
        if query.every and len(asked) > 1 and not _is_at_hand(asked, held, among):
            among = self._holding_every(asked, grain, among)
        weights = {term: -rarities[term] / _fts5_rarity(held.entries, held.terms[term]) for term in asked}
        found = [self._matches(term, grain, weights[term], among, held.content) for term in asked]
        best = best_of(found, limit, every=query.every)
        return list(map(Hit, unpack_all(best.keys), best.scores))

    def _holding_every(self, terms: Sequence[Term], grain: Grain, among: _Among) -> _Among:
        """The rows that hold all of *terms*."""
        every = " AND ".join(map(_expression, terms))
        sql = _EVERY.format(table=_table(grain), among=among.sql)
        keys = [key for (key,) in self._db.rows(sql, {**among.bindings, "every": every})]
        return _Among(_AMONG_KEYS, {"keys": json.dumps(keys)}, tuple(terms) if among is _ALL else None)

    def _matches(
        self, term: Term, grain: Grain, weight: float, among: _Among, content: str | None
    ) -> Matches:
        def find() -> Matches:
            sql = _PART.format(table=_table(grain), title=TITLE_WEIGHT, among=among.sql)
            bindings = {**among.bindings, "term": _expression(term), "weight": weight}
            rows = self._db.rows(sql, bindings)
            return Matches(array("q", [key for key, _ in rows]), array("d", [score for _, score in rows]))

        key = content, grain, term, weight, among.name
        return find() if among.name is None else _kept(_MATCHES, key, find)


def _is_at_hand(asked: Sequence[Term], held: _Held, among: _Among) -> bool:
    """Whether the matches of all these terms are kept, as the question for any of them left them."""
    return (
        held.content is not None and among is _ALL and len(selective_terms(asked, held.terms)) == len(asked)
    )


def _kept(kept: Kept[Made], key: tuple[str | None, *tuple[object, ...]], make: Callable[[], Made]) -> Made:
    """What is kept of the content that *key* begins with; of one without a name nothing is."""
    return make() if key[0] is None else kept.get(key, make)


def ranking_fault(db: Database) -> str | None:
    """
    The self-test: two texts of which one fits better must get different scores.

    An FTS5 table laid out without positions answers -0.0 for every row and raises nothing.
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


def _table(grain: Grain) -> str:
    return f"lexical_{grain.value}"


def _fts5_rarity(entries: int, holding: int) -> float:
    """What FTS5's ``bm25()`` multiplies with."""
    weight = math.log((entries - holding + 0.5) / (holding + 0.5))
    return weight if weight > 0 else _LEAST


def _documents(seen: str, bindings: Mapping[str, str]) -> _Among:
    """The rows of the documents that the query *seen* finds; all rows when it is empty."""
    # A scope is joined in, not filtered afterwards, so no answer comes short.
    return _Among(f"and rowid >> 20 in ({seen})", bindings) if seen else _ALL


def _has_word(term: Term) -> bool:
    return any(sign.isalnum() for sign in term.text)


def _expression(term: Term) -> str:
    # Between double quotes nothing is syntax but the quote itself, and a NUL would end the expression.
    text = term.text.replace("\0", " ").replace('"', '""')
    return f'"{text}"*' if term.prefix else f'"{text}"'
