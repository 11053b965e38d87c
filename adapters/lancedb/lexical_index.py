from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from clawmem.adapters.lancedb import vocabulary
from clawmem.adapters.lancedb.derived_index import LanceIndex
from clawmem.adapters.lancedb.exact import StemmedTerm, rescored, scored, stemmed_term
from clawmem.adapters.lancedb.table import common_fields
from clawmem.adapters.lancedb.term_queries import Memo, TermQueries
from clawmem.adapters.lancedb.translation import Row, best, condition, pack, translated
from clawmem.adapters.lancedb.vocabulary import BOUNDARY, stems, written
from clawmem.ports.backend import IndexPlace
from clawmem.ports.records import (
    EVERYTHING,
    FragmentKey,
    Grain,
    Hit,
    LexicalEntry,
    LexicalQuery,
    Marker,
    Scope,
    Term,
)

# Entries of a granularity; below this number all entries with a query term are scored here, without LanceDB's
# index. Measured on 4500 whole notes: 110 ms per query.
EXACT_BELOW = 3_000
FEWEST_CANDIDATES = 100
_SCALAR_FROM = 10_000  # rows from which scalar indexes on scope columns pay off


class LanceLexicalIndex(LanceIndex):
    """
    ``LexicalIndex`` in one table with a text column for each granularity.

    A row fills the column of its granularity and leaves the others null. LanceDB keeps BM25 statistics per
    column and ignores nulls, so every granularity has its own statistics. LanceDB receives folded and stemmed
    words. Each distinct word also has a row of its own, for the lookup of prefixes.

    A granularity with few entries is scored here exactly. In a larger one LanceDB finds the candidates that
    are scored.
    """

    method = "lancedb"
    table_name: ClassVar[str] = "stems"

    def __init__(self, place: IndexPlace, *, exact_below: int = EXACT_BELOW) -> None:
        self._exact_below = exact_below
        self._outdated = set(Grain)  # granularities whose statistics may be outdated; at first unknown
        self._known: tuple[int, Memo] = (-1, {})  # version of the table, and numbers about it
        super().__init__(place)

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._changing() as changes:
            for entry in entries:
                changes.put(entry.key.document_id, pack(entry.key, entry.grain), _row(entry))

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        if limit < 1:
            return []
        table = self._latest()
        with translated(self._store.uri):
            if table.count_rows(f"grain = '{grain.value}'") < self._exact_below:
                return scored(table, query, grain, limit, condition(scope))
            return self._found(table, query, grain, limit, scope)

    def count(self, grain: Grain) -> int:
        table = self._latest()
        with translated(self._store.uri):
            return int(table.count_rows(f"grain = '{grain.value}'"))

    def holding(self, term: Term, grain: Grain) -> int:
        looked_for = stemmed_term(term)
        if looked_for is None:
            return 0
        table = self._latest()
        with translated(self._store.uri):
            return self._queries(table, grain).held(looked_for)

    def _found(self, table: Any, query: LexicalQuery, grain: Grain, limit: int, scope: Scope) -> list[Hit]:
        """Return LanceDB's candidates, more than *limit*, rescored and ordered by the formula."""
        queries = self._queries(table, grain)
        terms = queries.asked(query)
        if not terms:
            return []
        question = queries.query(terms, every=query.every)
        candidates = best(partial(_hits, table, question, condition(scope)), _wider(limit, terms))
        if not candidates:
            return []
        idfs = {term: queries.idf(term) for term in terms}
        return rescored(table, candidates, grain, idfs, queries.mean_size())[:limit]

    def _queries(self, table: Any, grain: Grain) -> TermQueries:
        if self._known[0] != table.version:
            self._known = table.version, {}
        return TermQueries(table, grain, self._known[1])

    def _blank_schema(self) -> Any:
        import pyarrow as pa

        texts = [pa.field(str(name), pa.string()) for name in (*Grain, vocabulary.COLUMN)]
        return pa.schema(
            [*common_fields(), pa.field("grain", pa.string()), pa.field("size", pa.int64()), *texts]
        )

    def _rows(self, rows: Sequence[Row]) -> Any:
        import pyarrow as pa

        return pa.Table.from_pylist(rows, schema=self._blank_schema())

    def _prepare(self, table: Any) -> None:
        indexed = {column for index in table.list_indices() for column in index.columns}
        for grain in Grain:
            if grain.value not in indexed:
                table.create_index(grain.value, config=_words_of_a_grain())

    def _apply(self, table: Any, removed: set[int], rows: Sequence[Row], marker: Marker | None) -> None:
        self._outdated |= set(Grain) if removed else {Grain(row["grain"]) for row in rows}
        words = vocabulary.unlisted(table, (row[row["grain"]] for row in rows))
        super()._apply(table, removed, [*rows, *words], marker)

    def _renew_indexes(self, table: Any, *, all_of_them: bool = False) -> None:
        from lancedb.index import Bitmap, BTree

        # Rebuilding takes half the time of merging the changes, and also removes deleted entries.
        for grain in Grain if all_of_them else sorted(self._outdated):
            table.create_index(grain.value, config=_words_of_a_grain(), replace=True)
        self._outdated.clear()
        if table.count_rows() >= _SCALAR_FROM:
            table.create_index("collection", config=Bitmap(), replace=True)
            table.create_index("authored_at", config=BTree(), replace=True)

    def _unindexed(self, table: Any) -> int:
        indexes = [table.index_stats(f"{grain.value}_idx") for grain in self._outdated]
        return max((int(index.num_unindexed_rows) for index in indexes), default=0)

    def _faults_of_search(self, table: Any) -> list[str]:
        for grain in Grain:
            self._found(table, LexicalQuery((Term("a"), Term("the"))), grain, 1, EVERYTHING)
        return []


def _wider(limit: int, terms: Sequence[StemmedTerm]) -> int:
    """Return the number of candidates to rescore; LanceDB sums the words of a prefix differently."""
    has_prefix = any(term.prefix for term in terms)
    return max(FEWEST_CANDIDATES, 4 * limit if has_prefix else limit + limit // 2)


def _row(entry: LexicalEntry) -> Row:
    return {
        "key": pack(entry.key, entry.grain),
        "document_id": entry.key.document_id,
        "seq": entry.key.seq,
        "collection": entry.collection,
        "authored_at": entry.authored_at,
        "grain": entry.grain.value,
        "size": len(stems(entry.title)) + len(stems(entry.text)),
        entry.grain.value: written(entry.title, entry.text),
    }


def _words_of_a_grain() -> Any:
    from lancedb.index import FTS

    return FTS(
        with_position=True,
        base_tokenizer="whitespace",
        language="English",
        max_token_length=None,
        lower_case=False,
        stem=False,
        ascii_folding=False,
        # The only stop word. Its position remains, so no phrase matches across it.
        remove_stop_words=True,
        custom_stop_words=[BOUNDARY],
    )


def _hits(table: Any, question: Any, where: str | None, limit: int) -> list[Hit]:
    query = table.search(question, query_type="fts").select(["document_id", "seq", "_score"]).limit(limit)
    if where:
        query = query.where(where)
    found = query.to_arrow()
    columns = (found[name].to_pylist() for name in ("document_id", "seq", "_score"))
    hits = [Hit(FragmentKey(number, seq), score) for number, seq, score in zip(*columns, strict=True)]
    return sorted(hits, key=lambda hit: -hit.score)
