"""The b-trees of a file, walked as far as they go, and the pages that nothing points to any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clawmem.adapters.sqlite.rescue.cells import INDEX_LEAF, TABLE_LEAF, Cell, Page, read_page
from clawmem.adapters.sqlite.rescue.pages import PageFile


class Tree(NamedTuple):
    """The records of one table or index; ``broken`` counts its pages, ``unreadable`` its records, that are lost."""

    cells: list[Cell]
    broken: int = 0
    unreadable: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is missing."""
        return not self.broken and not self.unreadable


class Trees:
    """Walks the b-trees of *file*; no page belongs to two of them."""

    def __init__(self, file: PageFile) -> None:
        self._file = file
        self._seen: set[int] = set()

    def walk(self, root: int) -> Tree:
        """Read the tree below page *root*."""
        cells: list[Cell] = []
        broken = unreadable = 0
        waiting = [root]
        while waiting:
            number = waiting.pop()
            page = self._page(number)
            if page is None:
                broken += 1
                continue
            cells += page.cells
            unreadable += page.unreadable
            waiting += reversed(page.children)
        return Tree(cells, broken, unreadable)

    def orphans(self) -> Iterator[Page]:
        """Leaves that no walked tree has led to, and that are not free; each is read once."""
        free = self._file.free()
        for number in range(1, self._file.count + 1):
            if number in self._seen or number in free:
                continue
            try:
                page = read_page(number, self._file.__getitem__, self._file.usable)
            except (ValueError, IndexError):
                continue
            if page.kind in (TABLE_LEAF, INDEX_LEAF) and page.cells:
                yield page

    def _page(self, number: int) -> Page | None:
        if number in self._seen:
            return None
        self._seen.add(number)
        try:
            page = read_page(number, self._file.__getitem__, self._file.usable)
        except (ValueError, IndexError):
            return None
        self._seen.update(other for cell in page.cells for other in cell.overflow)
        return page
