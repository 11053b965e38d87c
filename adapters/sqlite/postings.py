"""Digests of FTS5 tables: equal for equal words in equal places, in whatever order the rows were written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import apsw

from clawmem.adapters.sqlite.database import Database

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


@contextmanager
def vocabulary(connection: apsw.Connection, name: str, table: str, kind: str) -> Iterator[None]:
    """Create the temporary table *name* with the words of the FTS5 table *table* for the block."""
    connection.execute(f"create virtual table temp.{name} using fts5vocab (main, {table}, {kind})")
    try:
        yield
    finally:
        connection.execute(f"drop table temp.{name}")


def _varints(block: bytes) -> Iterator[int]:
    """Iterate over the integers of a record of FTS5: seven bits a byte, the highest first."""
    number = 0
    for byte in block:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            yield number
            number = 0
