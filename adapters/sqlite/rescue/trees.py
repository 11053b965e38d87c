"""B-trees of a file, read as far as possible, and leaf pages that no tree refers to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clawmem.adapters.sqlite.rescue.cells import INDEX_LEAF, TABLE_LEAF, Cell, Page, read_page
from clawmem.adapters.sqlite.rescue.pages import PageFile


class Tree(NamedTuple):
    """
    The records of one table or index, with the number of ``broken`` pages and of ``unreadable`` records.
    """

    cells: list[Cell]
    broken: int = 0
    unreadable: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether no page and no record of the tree is lost."""
        return not self.broken and not self.unreadable


class Trees:
    """Reader for the b-trees of *file*. No page belongs to two trees."""

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
        """Iterate over leaf pages that belong to no tree read so far and are not free."""
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
