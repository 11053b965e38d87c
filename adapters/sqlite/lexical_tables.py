"""The FTS5 tables of the lexical index: their columns, and how their row numbers follow from the keys of fragments."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from clawmem.adapters.sqlite.keys import pack, span
from clawmem.ports.lexical_index import TITLE_WEIGHT
from clawmem.ports.records import FragmentKey, Grain

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
