"""Parser for one page of a SQLite b-tree: its records and child pages."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from struct import Struct, unpack_from
from typing import Any, NamedTuple

INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
_KINDS = (INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF)
_WORD = Struct(">I")
_DOUBLE = Struct(">d")
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # serial type to width in bytes

Values = tuple[Any, ...]
PageOf = Callable[[int], bytes]


class Cell(NamedTuple):
    """One record: rowid (``None`` in an index), values, and the numbers of its overflow pages."""

    rowid: int | None
    values: Values
    overflow: tuple[int, ...] = ()


class Page(NamedTuple):
    """A b-tree page: the readable records, the child pages, and the number of unreadable records."""

    kind: int
    cells: list[Cell]
    children: list[int]
    unreadable: int


def read_page(number: int, page_of: PageOf, usable: int) -> Page:
    """
    Read page *number*.

    Raises:
        ValueError: the page does not belong to a b-tree.
    """
    content = page_of(number)
    start = 100 if number == 1 else 0
    kind = content[start]
    if kind not in _KINDS:
        raise ValueError(f"page {number} does not belong to a b-tree")
    is_interior = kind in (INDEX_INTERIOR, TABLE_INTERIOR)
    (count,) = unpack_from(">H", content, start + 3)
    first = start + (12 if is_interior else 8)
    if first + 2 * count > len(content):
        raise ValueError(f"page {number} has no room for {count} records")
    page = Page(kind, [], [], 0)
    unreadable = 0
    for at in unpack_from(f">{count}H", content, first):
        try:
            _read_cell(page, _Source(content, page_of, usable), at)
        except (ValueError, IndexError, struct.error):
            unreadable += 1
    if is_interior:
        page.children.append(_WORD.unpack_from(content, start + 8)[0])
    return page._replace(unreadable=unreadable)


class _Source(NamedTuple):
    content: bytes
    page_of: PageOf
    usable: int


def _read_cell(page: Page, source: _Source, at: int) -> None:
    if page.kind in (INDEX_INTERIOR, TABLE_INTERIOR):
        page.children.append(_WORD.unpack_from(source.content, at)[0])
        at += 4
    if page.kind == TABLE_INTERIOR:
        return
    length, at = _varint(source.content, at)
    rowid = None
    if page.kind == TABLE_LEAF:
        rowid, at = _varint(source.content, at)
        rowid = rowid - (1 << 64) if rowid >= 1 << 63 else rowid
    payload, overflow = _payload(source, page.kind, length, at)
    page.cells.append(Cell(rowid, tuple(_record(payload)), overflow))


def _payload(source: _Source, kind: int, length: int, at: int) -> tuple[bytes, tuple[int, ...]]:
    usable = source.usable
    least = (usable - 12) * 32 // 255 - 23
    most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
    if length <= most:
        return _exactly(source.content[at : at + length], length), ()
    local = least + (length - least) % (usable - 4)
    local = local if local <= most else least
    parts, pages = [_exactly(source.content[at : at + local], local)], []
    (following,) = _WORD.unpack_from(source.content, at + local)
    missing = length - local
    while missing > 0:
        if following in pages:
            raise ValueError("the overflow pages of a record form a cycle")
        pages.append(following)
        page = source.page_of(following)
        (following,) = _WORD.unpack_from(page)
        parts.append(page[4 : 4 + min(missing, usable - 4)])
        missing -= len(parts[-1])
    if following:
        raise ValueError("a record has more overflow pages than its length needs")
    return b"".join(parts), tuple(pages)


def _record(payload: bytes) -> Iterator[Any]:
    header, at = _varint(payload, 0)
    types = []
    while at < header:
        kind, at = _varint(payload, at)
        types.append(kind)
    if at != header or header + sum(map(_width, types)) != len(payload):
        raise ValueError("the length of a record differs from its header")
    for kind in types:
        width = _width(kind)
        yield _value(kind, payload[at : at + width])
        at += width


def _width(kind: int) -> int:
    if kind in (10, 11):
        raise ValueError("a value has a reserved serial type")
    return _INTEGERS.get(kind, 0) if kind < 7 else 8 if kind == 7 else 0 if kind < 12 else (kind - 12) // 2


def _value(kind: int, content: bytes) -> Any:
    if kind == 0:
        return None
    if kind in _INTEGERS:
        return int.from_bytes(content, "big", signed=True)
    if kind == 7:
        return _DOUBLE.unpack(content)[0]
    if kind < 10:
        return kind - 8
    return content.decode("utf-8") if kind % 2 else content


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = content[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at
    return value << 8 | content[at], at + 1


def _exactly(content: bytes, length: int) -> bytes:
    if len(content) != length:
        raise ValueError("a record extends beyond its page")
    return content
