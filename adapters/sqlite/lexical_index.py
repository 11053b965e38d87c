from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.adapters.sqlite.commits import Commits
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import pack, span, unpack
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.ports.lexical_index import TITLE_WEIGHT
from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term

# A part of the query for each term, materialised: bm25() only works in the query that matches.
_PART = """
part{n} (key, score) as materialized (
    select rowid, :weight{n} * bm25({table}, {title}, 1) from {table} where {table} match :term{n} {seen}
)"""
_EVERY = "every (key) as materialized (select rowid from {table} where {table} match :every {seen}), "
# Scores come from single precision: what differs by less than that is a tie, and ties are cut by key.
_SUM = """
with {every}{parts} select key, sum(score) as total from ({union})
 group by key order by round(total, 9) desc, key limit :limit
"""
_LEAST = 1e-6  # what FTS5 takes for the rarity of a term that more than half of the rows hold

# Scoring costs about a microsecond a match, and the most frequent words tell least: past this many matches
# of rarer words they are left out.
MOST_MATCHES = 8_000


class _Held(NamedTuple):
    """How many entries hold each term of a question, and how many entries there are."""

    terms: Mapping[Term, int]
    entries: int


class SqliteLexicalIndex(Commits):
    """
    ``LexicalIndex`` in FTS5, a contentless table for each grain.

    FTS5 scores with a rarity of its own, which turns to nothing for frequent words. Each term is asked for
    by itself, and its scores are multiplied by what makes its rarity everybody else's.
    """

    method = "FTS5"
    _role = "lexical"

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._db = db

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._db.atomic():
            for grain in Grain:
                latest = {pack(e.key): (e.title, e.text) for e in entries if e.grain is grain}
                rows = [(key, *texts) for key, texts in latest.items()]
                self._db.write_many(
                    f"delete from {_table(grain)} where rowid = ?", [(row[0],) for row in rows]
                )
                self._db.write_many(
                    f"insert into {_table(grain)} (rowid, title, text) values (?, ?, ?)", rows
                )

    def remove(self, document_id: int) -> None:
        with self._db.atomic():
            for grain in Grain:
                self._db.write(f"delete from {_table(grain)} where rowid between ? and ?", span(document_id))

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        held = self._held(query, grain)
        rarities = {term: math.log1p((held.entries - n + 0.5) / (n + 0.5)) for term, n in held.terms.items()}
        seen, bindings = documents_in(scope)
        return self._ranked(query, grain, limit, held, rarities, seen, bindings)

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
        bindings["documents"] = json.dumps(list(documents))
        return self._ranked(query, grain, limit, self._held(query, grain), rarities, seen, bindings)

    def count(self, grain: Grain) -> int:
        # The docsize table has one row an entry; counting the virtual table would visit each.
        return int(self._db.value(f"select count(*) from {_table(grain)}_docsize"))

    def holding(self, term: Term, grain: Grain) -> int:
        if not _has_word(term):
            return 0
        table = _table(grain)
        return int(
            self._db.value(f"select count(*) from {table} where {table} match ?", (_expression(term),))
        )

    def clear(self) -> None:
        with self._db.atomic():
            for grain in Grain:
                self._db.write(f"insert into {_table(grain)} ({_table(grain)}) values ('delete-all')")
            self._forget_marker()

    def optimize(self) -> None:
        """Merge each table's segments into one."""
        for grain in Grain:
            self._db.write(f"insert into {_table(grain)} ({_table(grain)}) values ('optimize')")

    def faults(self) -> list[str]:
        fault = ranking_fault(self._db)
        return [fault] if fault else []

    def _held(self, query: LexicalQuery, grain: Grain) -> _Held:
        terms = {term: self.holding(term, grain) for term in dict.fromkeys(query.terms) if _has_word(term)}
        # Another process may empty the index between two counts; no term is held by more than all.
        return _Held(terms, max(self.count(grain), *terms.values(), 0))

    def _ranked(
        self,
        query: LexicalQuery,
        grain: Grain,
        limit: int,
        held: _Held,
        rarities: Mapping[Term, float],
        seen: str,
        bindings: Mapping[str, str],
    ) -> list[Hit]:
        terms = [term for term, number in held.terms.items() if number]
        if limit < 1 or not terms or (query.every and len(terms) < len(held.terms)):
            return []
        asked = terms if query.every else telling(terms, held.terms)
        factors = {term: -rarities[term] / _fts5_rarity(held.entries, held.terms[term]) for term in asked}
        every = query.every and len(asked) > 1
        sql = _statement(grain, len(asked), seen, every=every)
        rows = self._db.rows(sql, {**bindings, **_bindings(factors), "limit": limit})
        return [Hit(unpack(key), score) for key, score in rows]


def telling(terms: Sequence[Term], held: Mapping[Term, int]) -> list[Term]:
    """The rarest of *terms*, as many as have `MOST_MATCHES` together, and always the rarest one."""
    kept: list[Term] = []
    matches = 0
    for term in sorted(terms, key=lambda term: held[term]):
        matches += held[term]
        if kept and matches > MOST_MATCHES:
            break
        kept.append(term)
    return kept


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


def _statement(grain: Grain, terms: int, seen: str, *, every: bool) -> str:
    # A scope is joined in, not filtered afterwards, so no answer comes short.
    scope = f"and rowid >> 20 in ({seen})" if seen else ""
    table = _table(grain)
    # The sign keeps FTS5 from looking each row up by itself: bm25() counts all matches anew whenever it is begun.
    among = "and +rowid in every" if every else scope
    parts = [_PART.format(n=n, table=table, title=TITLE_WEIGHT, seen=among) for n in range(terms)]
    return _SUM.format(
        every=_EVERY.format(table=table, seen=scope) if every else "",
        parts=", ".join(parts),
        union=" union all ".join(f"select key, score from part{n}" for n in range(terms)),
    )


def _bindings(factors: Mapping[Term, float]) -> dict[str, Any]:
    bindings: dict[str, Any] = {"every": " AND ".join(map(_expression, factors))}
    for number, (term, factor) in enumerate(factors.items()):
        bindings |= {f"term{number}": _expression(term), f"weight{number}": factor}
    return bindings


def _has_word(term: Term) -> bool:
    return any(sign.isalnum() for sign in term.text)


def _expression(term: Term) -> str:
    # Between double quotes nothing is syntax but the quote itself, and a NUL would end the expression.
    text = term.text.replace("\0", " ").replace('"', '""')
    return f'"{text}"*' if term.prefix else f'"{text}"'
