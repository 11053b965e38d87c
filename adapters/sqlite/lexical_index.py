from __future__ import annotations

from collections.abc import Sequence

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import pack, span, unpack
from clawmem.ports.lexical_index import K1, TITLE_WEIGHT
from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term

_FTS5_K1 = 1.2

# bm25() is negative, best first. A scope is joined in, not filtered afterwards, so no answer comes short.
_SEARCH = """
select rowid, bm25({table}, {title}, {text}) as score from {table}
 where {table} match :query {scope}
 order by score, rowid limit :limit
"""
_SCOPE = """
   and rowid >> 20 in (select id from documents where collection in (select value from json_each(:collections)))
"""


class SqliteLexicalIndex:
    """``LexicalIndex`` in FTS5, a contentless table for each grain."""

    def __init__(self, db: Database) -> None:
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
        match = _match(query)
        if not match or limit < 1:
            return []
        rows = self._db.rows(_statement(grain, scope), _bindings(match, limit, scope))
        return [Hit(unpack(key), -score) for key, score in rows]

    def count(self, grain: Grain) -> int:
        # The docsize table has one row an entry; counting the virtual table would visit each.
        return int(self._db.value(f"select count(*) from {_table(grain)}_docsize"))

    def clear(self) -> None:
        with self._db.atomic():
            for grain in Grain:
                self._db.write(f"insert into {_table(grain)} ({_table(grain)}) values ('delete-all')")


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


def _statement(grain: Grain, scope: Scope) -> str:
    # FTS5 fixes k1, but weighting every column by w turns tf into w·tf, and w·tf / (w·tf + k1·n) is
    # tf / (tf + (k1/w)·n): so the weight 1.2 / k1 gives any k1 that is wanted.
    weight = _FTS5_K1 / K1[grain]
    return _SEARCH.format(
        table=_table(grain),
        title=weight * TITLE_WEIGHT,
        text=weight,
        scope=_SCOPE if scope.collections else "",
    )


def _bindings(match: str, limit: int, scope: Scope) -> dict[str, str | int]:
    from json import dumps

    bindings: dict[str, str | int] = {"query": match, "limit": limit}
    if scope.collections:
        bindings["collections"] = dumps(sorted(scope.collections))
    return bindings


def _match(query: LexicalQuery) -> str:
    terms = [_quoted(term) for term in query.terms if any(c.isalnum() for c in term.text)]
    return (" AND " if query.every else " OR ").join(terms)


def _quoted(term: Term) -> str:
    # Between double quotes nothing is syntax but the quote itself, and a NUL would end the expression.
    text = term.text.replace("\0", " ").replace('"', '""')
    return f'"{text}"*' if term.prefix else f'"{text}"'
