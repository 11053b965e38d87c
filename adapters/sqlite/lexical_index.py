"""The lexical index in FTS5: its tables, the matches of terms, and the ranking."""

import json
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate

import apsw

from clawmem.adapters.sqlite.abandoning import blame_index, broken_tables, drop_virtual_table
from clawmem.adapters.sqlite.store import Store, documents_in, pack, span, unpack
from clawmem.ports.indexes import TITLE_WEIGHT, WORD_FORM, UnknownWord
from clawmem.ports.records import EVERYTHING, Grain, Hit, LexicalEntry, LexicalQuery, Marker, Scope, Term

# One table for each granularity; the number of a row is the packed key of the fragment.
TABLES = {grain: f"lexical_{grain.value}" for grain in Grain}

# The docsize table has one row per entry; counting the virtual table would visit each of its rows.
_COUNTS = """
select count(*) from {table}_docsize union all
select (select count(*) from {table} where {table} match term.value) from json_each(?) as term
"""
# A cross join, because SQLite does not reorder it: bm25() is computed for one term after the other. Scores come from
# single precision; scores that are equal after rounding are ties, which are ordered by key.
_RANKED = f"""
with parts as materialized (
    select hits.rowid as key, (term.value ->> 1) * bm25({{table}}, 1, {TITLE_WEIGHT}) as score
      from json_each(:terms) as term cross join {{table}} as hits
     where {{table}} match term.value ->> 0 {{condition}})
select key, sum(score) as total from parts group by key order by round(total, 9) desc, key limit :limit
"""
# The unary plus keeps FTS5 from looking up each row separately: bm25() recounts all matches whenever it starts.
_EVERY = "and +hits.rowid in (select rowid from {table} where {table} match :every)"
# Scoring takes about a microsecond per match, and frequent terms are the least selective: once the rarest terms have
# this many matches, the others are omitted.
_MOST_MATCHES = 8_000
_MARKER = "marker_lexical"
_PUT_FORM = "insert or replace into meta values ('lexical_form', ?)"
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])  # of the tables, see the schema
_ONLY_TOKENS = {"include_offsets": False, "include_colocated": False}
_SPELLINGS = f"create virtual table temp.spellings using fts5vocab (main, {TABLES[Grain.DOCUMENT]}, row)"
# Words with the same first letter and about the same length.
_SIMILAR = """
select term, doc from temp.spellings
 where term >= :first and term < char(unicode(:first) + 1) and abs(length(term) - :length) <= 2
"""
_LEAST = 1e-6  # the IDF that FTS5 uses for a term in more than half of the rows


class SqliteLexicalIndex(Store):
    """
    ``LexicalIndex`` in FTS5, with a contentless table for each granularity; commits are part of the vault's transaction.

    FTS5 computes its own IDF, which is almost 0 for frequent terms. Each term is therefore matched separately, and its
    scores are multiplied by the ratio of the common IDF to that of FTS5.
    """

    method = "FTS5"
    in_process = True
    _is_committing = False

    def marker(self) -> Marker | None:
        text = self._db.meta(_MARKER)
        return Marker(*json.loads(text)) if text else None

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._is_committing:
            raise RuntimeError("committing() is not reentrant")
        self._is_committing = True
        try:
            with self._db.atomic():
                yield
                if marker:
                    self._db.write("insert or replace into meta values (?, ?)", (_MARKER, json.dumps(marker)))
        finally:
            self._is_committing = False

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with blame_index(self._db, self.faults), self._db.atomic():
            for grain, table in TABLES.items():
                own = (entry for entry in entries if entry.grain is grain)
                rows = [(pack(entry.key), entry.title, entry.text) for entry in own]
                self._db.write_many(f"replace into {table} (rowid, title, text) values (?, ?, ?)", rows)

    def remove(self, document_id: int) -> None:
        with blame_index(self._db, self.faults), self._db.atomic():
            for table in TABLES.values():
                self._db.write(f"delete from {table} where rowid between ? and ?", span(document_id))

    def search(self, query: LexicalQuery, grain: Grain, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        entries, counts = self._counts(query.terms, grain)
        terms = [term for term, number in counts.items() if number]
        if limit < 1 or not terms or (query.every and len(terms) < len(counts)):
            return []
        documents, bindings = documents_in(scope)
        condition = f"and hits.rowid >> 20 in ({documents})" if documents else ""
        if query.every and len(terms) > 1:
            condition += _EVERY.format(table=TABLES[grain])
        elif not query.every:
            terms.sort(key=counts.__getitem__)
            matches = list(accumulate(counts[term] for term in terms))
            terms = terms[: max(1, bisect_right(matches, _MOST_MATCHES))]
        weighted = [
            (_expression(term), -math.log1p(odds) / (math.log(odds) if odds > 1 else _LEAST))
            for term in terms
            for odds in [(entries - counts[term] + 0.5) / (counts[term] + 0.5)]
        ]
        values = {
            **bindings,
            "terms": json.dumps(weighted, ensure_ascii=False),
            "every": " AND ".join(expression for expression, _ in weighted),
            "limit": limit,
        }
        with blame_index(self._db, self.faults):
            rows = self._db.rows(_RANKED.format(table=TABLES[grain], condition=condition), values)
        return [Hit(unpack(key), score) for key, score in rows]

    def count(self, grain: Grain) -> int:
        return self._counts([], grain)[0]

    def holding(self, term: Term, grain: Grain) -> int:
        if not any(sign.isalnum() for sign in term.text):
            return 0
        table = TABLES[grain]
        with blame_index(self._db, self.faults):
            sql = f"select count(*) from {table} where {table} match ?"
            return int(self._db.value(sql, (_expression(term),)))

    def unknown_words(self, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
        counts = self._counts(terms, Grain.DOCUMENT)[1]
        unknown = [term.text for term, number in counts.items() if not number]
        if not unknown:
            return {}
        similar: dict[str, UnknownWord] = {}
        with blame_index(self._db, self.faults), self._db.connection() as connection:
            tokenize = connection.fts5_tokenizer(*_TOKENIZER)
            connection.execute(_SPELLINGS)
            try:
                for word in unknown:
                    tokens = tokenize(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, **_ONLY_TOKENS)
                    stems = [str(token) for token in tokens]
                    if len(stems) == 1:  # FTS5 would store other words as several, or as none
                        bindings = {"first": stems[0][0], "length": len(stems[0])}
                        similar[word] = UnknownWord(stems[0], dict(connection.execute(_SIMILAR, bindings)))
            finally:
                connection.execute("drop table temp.spellings")
        return similar

    def clear(self) -> None:
        with self._db.atomic():
            for table in TABLES.values():
                sql = "select sql from sqlite_schema where name = ?"
                definition = str(self._db.write(sql, (table,))[0][0])
                drop_virtual_table(self._db, table)
                self._db.write(definition)
            self._db.write("delete from meta where name = ?", (_MARKER,))
            self._db.write(_PUT_FORM, (WORD_FORM,))

    def optimize(self) -> None:
        """Merge the segments of each table into one."""
        with blame_index(self._db, self.faults):
            for table in TABLES.values():
                self._db.write(f"insert into {table} ({table}) values ('optimize')")

    def faults(self) -> list[str]:
        if broken := broken_tables(self._db, TABLES.values()):
            return [f"{table} is broken" for table in broken]
        return ["its words have the form of an earlier clawmem"] if self.is_outdated() else []

    def is_outdated(self) -> bool:
        return self._db.meta("lexical_form") != WORD_FORM

    def _counts(self, terms: Sequence[Term], grain: Grain) -> tuple[int, dict[Term, int]]:
        """Return the number of entries, and of those that contain each of *terms* that has a letter or digit."""
        words = [term for term in dict.fromkeys(terms) if any(sign.isalnum() for sign in term.text)]
        expressions = json.dumps([_expression(term) for term in words], ensure_ascii=False)
        with blame_index(self._db, self.faults):
            entries, *counts = self._db.values(_COUNTS.format(table=TABLES[grain]), (expressions,))
        numbers = dict(zip(words, counts, strict=True))
        # Another process may empty the index between two counts; no term has more matches than there are entries.
        return max(entries, *numbers.values(), 0), numbers


def _expression(term: Term) -> str:
    # Inside double quotes only the quote itself is syntax; a NUL would end the expression.
    text = term.text.replace("\0", " ").replace('"', '""')
    return f'"{text}"*' if term.prefix else f'"{text}"'
