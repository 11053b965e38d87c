from collections.abc import Sequence
from typing import Any

import lancedb.query
import pyarrow as pa
from lancedb.index import FTS

from clawmem.adapters.lancedb.derived_index import COMMON, LanceIndex, best, condition, scope_columns
from clawmem.ports.indexes import TITLE_WEIGHT, stems
from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term

fts: Any = lancedb.query  # mypy takes optional fields of its classes for required ones

# Separates the parts of an entry. A letter that occurs in a single manuscript; it is removed from texts.
BOUNDARY = "ꙮ"
BEGINNINGS = {grain.value: f"{grain.value}_beginnings" for grain in Grain}  # columns of both
LONGEST_BEGINNING = 16  # letters; a longer prefix is cut, as it hardly ever begins two different words


class LanceLexicalIndex(LanceIndex):
    """
    ``LexicalIndex`` by LanceDB's full-text search, in one table with two text columns for each granularity.

    A row fills the columns of its granularity and leaves the others null. LanceDB has BM25 statistics for
    each column and ignores nulls, so every granularity has its own statistics. The first column holds the
    words, folded and stemmed here and split by LanceDB at spaces. The second holds the beginnings of these words,
    because LanceDB has no prefix queries.
    """

    method = "lancedb"
    table_name = "words"
    schema = pa.schema(
        [*COMMON, ("grain", pa.string()), *((n, pa.string()) for pair in BEGINNINGS.items() for n in pair)]
    )

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        for entry in entries:
            title, text = (stems(part.replace(BOUNDARY, " ")) for part in (entry.title, entry.text))
            parts = [title] * (TITLE_WEIGHT if title else 0) + [text]
            words = {word[:LONGEST_BEGINNING] for word in (*title, *text)}
            beginnings = {word[:length] for word in words for length in range(1, len(word) + 1)}
            row = {
                **scope_columns(entry, entry.grain),
                "grain": entry.grain.value,
                entry.grain.value: f" {BOUNDARY} ".join(" ".join(part) for part in parts),
                BEGINNINGS[entry.grain]: " ".join(sorted(beginnings)),
            }
            self._put([row])

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        with self._latest() as table:
            question = self._question(table, query, grain)
            if limit < 1 or question is None:
                return []
            search = table.search(question, query_type="fts").select(["document_id", "seq", "_score"])
            if where := condition(scope):
                search = search.where(where)
            return best(search, limit, lambda row: float(row["_score"]))

    def count(self, grain: Grain) -> int:
        with self._latest() as table:
            return int(table.count_rows(f"grain = '{grain.value}'"))

    def holding(self, term: Term, grain: Grain) -> int:
        with self._latest() as table:
            question = self._question(table, LexicalQuery((term,)), grain)
            if question is None:
                return 0
            search = table.search(question, query_type="fts").select(["_score"])
            return int(search.limit(table.count_rows() + 1).to_arrow().num_rows)

    def _question(self, table: Any, query: LexicalQuery, grain: Grain) -> Any | None:
        """Return LanceDB's query for all terms or any of them; ``None`` if it can match nothing."""
        occur = fts.Occur.MUST if query.every else fts.Occur.SHOULD
        operator = fts.FullTextOperator.AND if query.every else fts.FullTextOperator.OR
        terms = sorted(
            {
                (tuple(stemmed), term.prefix)
                for term in query.terms
                if (stemmed := stems(term.text.replace(BOUNDARY, " ")))
            }
        )
        # All words go into one match; LanceDB scores separate matches in full before it adds them.
        words = {words[0] for words, prefix in terms if len(words) == 1 and not prefix}
        beginnings = {words[0][:LONGEST_BEGINNING] for words, prefix in terms if len(words) == 1 and prefix}
        parts = [
            fts.MatchQuery(" ".join(sorted(texts)), column, operator=operator)
            for texts, column in ((words, grain.value), (beginnings, BEGINNINGS[grain]))
            if texts
        ]
        for phrase, _ in terms:
            if len(phrase) > 1:
                parts.append(fts.PhraseQuery(" ".join(phrase), grain.value))
        return fts.BooleanQuery([(occur, part) for part in parts]) if parts else None

    def _create_indexes(self, table: Any, *, renew: bool = False) -> None:
        # Rebuilding takes half the time of merging, and forgets the removed entries in the statistics.
        present = set() if renew else {name for index in table.list_indices() for name in index.columns}
        for grain in Grain:
            for column in {grain.value, BEGINNINGS[grain]} - present:
                config = FTS(
                    with_position=column == grain.value,
                    base_tokenizer="whitespace",
                    max_token_length=None,
                    lower_case=False,
                    stem=False,
                    ascii_folding=False,
                    # The only stop word. Its position remains, so no phrase matches across it.
                    remove_stop_words=True,
                    custom_stop_words=[BOUNDARY],
                )
                table.create_index(column, config=config, replace=True)

    def _probe(self, table: Any) -> None:
        for grain in Grain:
            for term in (Term("a"), Term("a", prefix=True), Term("a the")):
                question = self._question(table, LexicalQuery((term,)), grain)
                table.search(question, query_type="fts").select(["_score"]).limit(1).to_arrow()
