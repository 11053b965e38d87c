"""The FTS5 tables of the lexical index: their columns, and how their row numbers follow from the keys of fragments."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from clawmem.adapters.sqlite.abandoning import drop_virtual_table, empty_fts_table
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.keys import pack, span
from clawmem.ports.lexical_index import TITLE_WEIGHT
from clawmem.ports.records import FragmentKey, Grain

LAYOUT = "lexical_layout"  # in `meta`, if the tables have the present layout
_SEQ_BITS = 20  # of a packed key
_FAR = 1 << 62
# FTS5 stores the differences of row numbers, so these are as small as the usual number of fragments allows.
_BITS = MappingProxyType({Grain.LINE: 7, Grain.PASSAGE: 4, Grain.SECTION: 7, Grain.DOCUMENT: 0})
# The first column costs nothing for each of its words, the second one two bytes; most words are in the text.
_CREATE = """
create virtual table {table} using fts5 (
    text, title, content='', contentless_delete=1, detail=full, tokenize='porter unicode61 remove_diacritics 2'
)
"""


class LexicalTable(NamedTuple):
    """
    The table of one granularity.

    A row number is the number of the document followed by ``bits`` bits for the fragment. A fragment beyond these
    bits has its packed key, far from the others.
    """

    name: str
    columns: tuple[str, str]
    bits: int

    @property
    def weights(self) -> str:
        """The weights of the columns, for ``bm25()``."""
        return ", ".join(str(TITLE_WEIGHT if column == "title" else 1) for column in self.columns)

    @property
    def key(self) -> str:
        """SQL for the packed key of the row ``hits``."""
        if self.bits == _SEQ_BITS:
            return "hits.rowid"
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


def table_name(grain: Grain) -> str:
    """Return the name of the table of *grain*."""
    return f"lexical_{grain.value}"


_PRESENT: Mapping[Grain, LexicalTable] = MappingProxyType(
    {grain: LexicalTable(table_name(grain), ("text", "title"), _BITS[grain]) for grain in Grain}
)
# Until its next `rebuild` or `update`, a vault of an earlier version has tables of twice the size.
_EARLIER: Mapping[Grain, LexicalTable] = MappingProxyType(
    {grain: LexicalTable(table_name(grain), ("title", "text"), _SEQ_BITS) for grain in Grain}
)


def lexical_tables(db: Database) -> Mapping[Grain, LexicalTable]:
    """Return the tables by granularity."""
    return _PRESENT if has_present_layout(db) else _EARLIER


def has_present_layout(db: Database) -> bool:
    """Whether the tables are not those of an earlier version."""
    return db.meta(LAYOUT) is not None


def empty_tables(db: Database) -> None:
    """Empty the tables, even if they are damaged, and give them the present layout. Call this inside a transaction."""
    if has_present_layout(db):
        for grain in Grain:
            empty_fts_table(db, table_name(grain))
    else:
        for grain in Grain:
            drop_virtual_table(db, table_name(grain))
        create_tables(db)
        db.has_lost_pages = True


def create_tables(db: Database) -> None:
    """Create the tables in the present layout; replace sound ones. Call this inside a transaction."""
    for grain in Grain:
        db.write(f"drop table if exists {table_name(grain)}")
        db.write(_CREATE.format(table=table_name(grain)))
    db.write("insert or replace into meta values (?, '2')", (LAYOUT,))
