"""Comparison of FTS5 tables with the texts that they were made from, word by word, in tables in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from clawmem.adapters.sqlite.database import MEMORY, Database
from clawmem.adapters.sqlite.lexical_index import TABLES, SqliteLexicalIndex, vocabulary
from clawmem.ports.errors import VaultDamaged
from clawmem.ports.records import Grain, LexicalEntry

_NAMES = "entity_names"

# The columns of each table have names of different lengths, and a damaged number of a column has no name. The
# prime keeps every sum within the integers of SQLite.
_PLACES = """
select cast(term as blob),
       sum((doc % 2147483647 + 1299709) * (8 * offset + ifnull(length(col), 0) + 15485863) % 2147483647)
  from temp.postings group by term
"""
# A search reads the tree of terms, which reading all postings in their order does not.
_MISSED = """
select count(*) from temp.terms as listed where not exists (
    select 1 from temp.terms as found
     where found.term = listed.term and found.doc = listed.doc and found.cnt = listed.cnt
)
"""
_AVERAGES_ROW = 1  # of the data table: the number of entries, and the number of words of each column
_BITS_APART = 64  # between these numbers in their digest


class Postings(NamedTuple):
    """
    Digest of an FTS5 table. Digests of disjoint parts of a table add up to that of the table.

    It depends on everything that decides an answer: the places of the words, the lengths of the entries, and
    the totals for the average length. It does not depend on the origin of an entry, which FTS5 reads only to
    remove the entry. Comparable within one process only.
    """

    places: int = 0
    lengths: int = 0
    totals: int = 0

    def plus(self, other: Postings) -> Postings:
        """Return the digest of both parts together."""
        return Postings(*map(sum, zip(self, other, strict=True)))

    def differences(self, other: Postings) -> list[str]:
        """Return the names of the parts that differ."""
        names = ("words or their places", "lengths of texts", "average length")
        return [name for name, one, two in zip(names, self, other, strict=True) if one != two]


def postings(db: Database, table: str) -> Postings:
    """Return the digest of the FTS5 table *table*."""
    with db.connection() as connection:
        with vocabulary(connection, "postings", table, "instance"):
            places = sum(hash(term) * part for term, part in connection.execute(_PLACES))
        lengths = sum(map(hash, connection.execute(f"select id, sz from {table}_docsize")))
        averages = connection.execute(f"select block from {table}_data where id = {_AVERAGES_ROW}").get
    totals = sum(number << _BITS_APART * place for place, number in enumerate(_varints(averages or b"")))
    return Postings(places, lengths, totals)


def missed_terms(db: Database, table: str) -> int:
    """Return the number of terms of the FTS5 table *table* that a search does not find, or not everywhere."""
    with db.connection() as connection, vocabulary(connection, "terms", table, "row"):
        return int(connection.execute(_MISSED).get)


def _varints(block: bytes) -> Iterator[int]:
    """Iterate over the integers of a record of FTS5: seven bits a byte, the highest first."""
    number = 0
    for byte in block:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            yield number
            number = 0


def wrong_words(db: Database, entries: Iterable[Sequence[LexicalEntry]]) -> list[str]:
    """Return how the lexical index differs from *entries*, which are given in batches."""
    expected = dict.fromkeys(Grain, Postings())
    for batch in entries:
        with closing(ScratchLexicalIndex(db)) as scratch:
            scratch.put(batch)
            expected = {
                grain: part.plus(postings(scratch.database, TABLES[grain]))
                for grain, part in expected.items()
            }
    return [
        sentence
        for grain, whole in expected.items()
        for sentence in _differences(db, f"lexical_{grain}", f"The {grain} index", whole)
    ]


def wrong_names(db: Database) -> list[str]:
    """Return how the words of the names of entities differ from these names."""
    with closing(Database(MEMORY)) as memory:
        memory.write(db.value("select sql from sqlite_schema where name = ?", (_NAMES,)))
        with memory.atomic():
            names = db.stream("select key, name from entities")
            memory.write_many(f"insert into {_NAMES} (rowid, name) values (?, ?)", names)
        expected = postings(memory, _NAMES)
    return _differences(db, _NAMES, "The index of entity names", expected)


def _differences(db: Database, table: str, name: str, expected: Postings) -> list[str]:
    try:
        wrong = postings(db, table).differences(expected)
        missed = missed_terms(db, table)
    except VaultDamaged:
        return [f"{name} cannot be read to its end"]
    if missed:
        wrong.append(f"{missed} words that a search misses")
    return [f"{name} differs from the records: {', '.join(wrong)}"] if wrong else []


_TABLES = """
create table meta (name text primary key, value text not null) without rowid;
create table documents (id integer primary key, collection text not null, authored_at text not null);
"""
_LEXICAL = "select sql from sqlite_master where type = 'table' and name like 'lexical%' and sql like 'create virtual%'"
_DOCUMENT = "insert or replace into documents values (?, ?, ?)"


class ScratchLexicalIndex(SqliteLexicalIndex):
    """A temporary lexical index in memory with the same tables as the index of a vault."""

    method = "FTS5 in memory"

    def __init__(self, vault: Database) -> None:
        """
        Create the tables of the index.

        Args:
            vault: Database whose lexical tables are recreated in memory.
        """
        memory = Database(MEMORY)
        memory.write(_TABLES)
        for (sql,) in vault.rows(_LEXICAL):
            memory.write(sql)
        super().__init__(memory)
        self.database = memory

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._db.atomic():
            # A scope limits documents; their records are in the vault, so the needed columns are copied here.
            documents = {(e.key.document_id, e.collection, e.authored_at) for e in entries}
            self._db.write_many(_DOCUMENT, documents)
            super().put(entries)

    def close(self) -> None:
        """Release the memory."""
        self._db.close()
