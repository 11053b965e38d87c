"""Layout and B-trees of the tables of a vault, to recognize the records of each table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.rescue.cells import INDEX_INTERIOR, INDEX_LEAF, Cell, Page, Values, read_page
from clawmem.adapters.sqlite.rescue.pages import PageFile
from clawmem.adapters.sqlite.vocabulary import TELLING

_DERIVED = ("outbox", "leases", "companions")
_SKETCHES = "sketches"  # derived by a model
_LOCK_BYTE = 1 << 30  # SQLite leaves the page with this byte unused
_KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "real": (int, float),
    "blob": (bytes,),
    "": (str, int),
}


class Table(NamedTuple):
    """
    A table of records, with its columns in storage order.

    ``rowid`` is the position of the column that aliases the rowid, or None. A record has at least ``least``
    columns: records that were written before the last columns were added are shorter. ``references`` are the positions
    of columns that hold the key of another table, which is the first column there.
    """

    name: str
    columns: tuple[str, ...]
    kinds: tuple[tuple[type, ...], ...]
    required: tuple[bool, ...]
    words: tuple[frozenset[str] | None, ...]
    rowid: int | None
    is_index: bool
    least: int
    references: tuple[tuple[int, str], ...] = ()

    def may_own(self, page: Page) -> bool:
        """Whether *page* can be part of this table: it is of its kind, and has no records, or one that fits."""
        is_same_kind = (page.kind in (INDEX_INTERIOR, INDEX_LEAF)) == self.is_index
        return is_same_kind and (not page.cells or any(map(self.values, page.cells)))

    def values(self, cell: Cell) -> Values | None:
        """Return the values of *cell* by column; ``None`` if it cannot be a record of this table."""
        if (cell.rowid is None) != self.is_index or not self.least <= len(cell.values) <= len(self.columns):
            return None
        values = list(cell.values)
        if self.rowid is not None:
            if values[self.rowid] is not None:
                return None
            values[self.rowid] = cell.rowid
        fits = all(map(_fits, values, self.kinds, self.required, self.words))
        return tuple(values) if fits else None


def tables_of(db: Database) -> list[Table]:
    """Return the tables of *db* whose content cannot be derived from other tables."""
    return [_table(db, name, is_index) for name, is_index in _record_tables(db) if name != _SKETCHES]


def record_tables(db: Database) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table that a copy of a vault needs, by name."""
    sql = "select name from pragma_table_info(?) order by cid"
    return {name: tuple(column for (column,) in db.rows(sql, (name,))) for name, _ in _record_tables(db)}


def _record_tables(db: Database) -> list[tuple[str, bool]]:
    """Return the tables that are neither indexes nor recomputed without a model, and whether each has no rowid."""
    virtual = [name for (name,) in db.rows("select name from pragma_table_list where type = 'virtual'")]
    shadows = tuple(f"{name}_" for name in virtual)
    sql = "select name, wr from pragma_table_list where type = 'table' and schema = 'main'"
    return [
        (name, bool(is_index))
        for name, is_index in db.rows(sql)
        if not name.startswith((*shadows, "sqlite_", "vector_")) and name not in _DERIVED
    ]


def _table(db: Database, name: str, is_index: bool) -> Table:
    rows = db.rows('select name, lower(type), "notnull", dflt_value, pk from pragma_table_info(?)', (name,))
    if is_index:  # the columns of the primary key come first, in key order
        rows = [
            *sorted((row for row in rows if row[4]), key=lambda row: row[4]),
            *(r for r in rows if not r[4]),
        ]
    alias = None
    if not is_index and [row[1] for row in rows if row[4]] == ["integer"]:
        alias = next(place for place, row in enumerate(rows) if row[4])
    return Table(
        name,
        tuple(row[0] for row in rows),
        tuple(_KINDS[row[1]] for row in rows),
        tuple(bool(row[2] or (is_index and row[4])) for row in rows),
        tuple(_words(name, row[0]) for row in rows),
        alias,
        is_index,
        max((place for place, row in enumerate(rows, start=1) if row[2] and row[3] is None), default=1),
        _references(db, name, [row[0] for row in rows]),
    )


def _references(db: Database, name: str, columns: list[str]) -> tuple[tuple[int, str], ...]:
    found = db.rows('select "from", "table" from pragma_foreign_key_list(?)', (name,))
    return tuple((columns.index(column), parent) for column, parent in found)


def _words(table: str, column: str) -> frozenset[str] | None:
    words = TELLING.get((table, column))
    return frozenset(words) if words else None


def _fits(value: object, kinds: tuple[type, ...], is_required: bool, words: frozenset[str] | None) -> bool:
    if value is None:
        return not is_required
    return isinstance(value, kinds) and (words is None or value in words)


PageReader = Callable[[int], Page | None]


def _no_page(number: int) -> Page | None:
    return None


@dataclass(slots=True)
class Tree:
    """
    The readable ``pages`` of one table or index, and its numbers of readable ``records``, of ``broken`` pages and of
    ``unreadable`` records. The records are not kept, because all of a vault need several times its size.
    """

    read: PageReader = _no_page
    pages: list[int] = field(default_factory=list)
    records: int = 0
    broken: int = 0
    unreadable: int = 0

    @property
    def cells(self) -> Iterator[Cell]:
        """Read the records again."""
        return (cell for number in self.pages if (page := self.read(number)) for cell in page.cells)

    def add(self, other: Tree) -> None:
        """Add the records of a part of this tree."""
        self.pages += other.pages
        self.records += other.records

    @property
    def is_whole(self) -> bool:
        """Whether no page and no record of the tree is lost."""
        return not self.broken and not self.unreadable


class Trees:
    """Reader for the b-trees of *file*. No page belongs to two trees."""

    def __init__(self, file: PageFile) -> None:
        self._file = file
        self._free = file.free()
        self._seen: set[int] = set()

    def walk(self, root: int, table: Table | None = None) -> Tree:
        """Read the tree below page *root*; a page that holds no record of *table* belongs to another tree."""
        tree = Tree(self._page)
        waiting = [root]
        while waiting:
            number = waiting.pop()
            page = None if number in self._seen else self._page(number)
            if page is not None and table is not None and not table.may_own(page):
                tree.broken += 1
                continue
            self._seen.add(number)
            if page is None:
                tree.broken += 1
                continue
            self._seen.update(other for cell in page.cells for other in cell.overflow)
            tree.pages.append(number)
            tree.records += len(page.cells)
            tree.unreadable += page.unreadable
            waiting += reversed(page.children)
        return tree

    def unclaimed_pages(self) -> Iterator[tuple[int, Page]]:
        """Iterate over the readable pages that belong to no tree read so far and are not free."""
        for number in self._unclaimed():
            if page := self._page(number):
                yield number, page

    def unclaimed(self) -> list[Tree]:
        """Read the trees of these pages; those without records are left out."""
        children = {number: page.children for number, page in self.unclaimed_pages()}
        below = {child for numbers in children.values() for child in numbers}
        trees = [self.walk(number) for number in children if number not in below]
        return [tree for tree in trees if tree.records]

    @property
    def has_lost_pages(self) -> bool:
        """Whether the file was cut, or some page is neither free nor part of a tree read so far."""
        unused = _LOCK_BYTE // self._file.size + 1
        return self._file.is_cut or any(number != unused for number in self._unclaimed())

    def _unclaimed(self) -> Iterator[int]:
        for number in range(1, self._file.count + 1):
            if number not in self._seen and number not in self._free:
                yield number

    def _page(self, number: int) -> Page | None:
        try:
            return read_page(number, self._file.__getitem__, self._file.usable)
        except (ValueError, IndexError):
            return None
