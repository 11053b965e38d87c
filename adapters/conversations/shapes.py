"""Recognition of a file by its first bytes: JSON, lines of it, text, a page or a database, and its first members."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum, auto
from typing import Any, NamedTuple

import ijson

from clawmem.adapters.conversations.members import Member, Tree, Unreadable, Utf8Stream

SQLITE = b"SQLite format 3\0"
_PAGE = re.compile(rb"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_PAGE_TITLE = re.compile(
    rb'mdl-typography--title">([^<]{1,200})'
)  # of the first activity in a page of Google
SAMPLE_LINES = 200  # a session begins with lines of its program


class Kind(Enum):
    """Outer form of a file."""

    ARRAY = auto()
    OBJECT = auto()
    LINES = auto()
    TEXT = auto()
    DATABASE = auto()
    PAGE = auto()


class Shape(NamedTuple):
    """
    Form of a file. ``keys`` and ``values`` are those of its first object, ``lines`` the objects on its first lines.

    ``values`` has texts and numbers only. An empty array or object has no keys and ``is_empty``.
    """

    kind: Kind
    keys: frozenset[str] = frozenset()
    values: Mapping[str, Any] = {}
    lines: tuple[Mapping[str, Any], ...] = ()
    is_empty: bool = False

    def has(self, *keys: str) -> bool:
        """Whether the first object has all *keys*."""
        return self.keys.issuperset(keys)


def shape_of(head: bytes) -> Shape:
    """Return the shape of a file that begins with *head*."""
    if head.startswith(SQLITE):
        return Shape(Kind.DATABASE)
    if _PAGE.match(head):
        titles = _PAGE_TITLE.search(head)
        return Shape(Kind.PAGE, values={"page": titles[1].decode("utf-8", "replace")} if titles else {})
    start = head.lstrip()[:1]
    if start == b"{" and (lines := _lines(head)) and (len(lines) > 1 or b"\n" in head.strip()):
        return Shape(Kind.LINES, frozenset(lines[0]), lines[0], lines)
    if start not in (b"{", b"["):
        return Shape(Kind.TEXT)
    kind = Kind.OBJECT if start == b"{" else Kind.ARRAY
    prefix = "" if kind is Kind.OBJECT else "item"
    keys, values, events = [], {}, list[str]()
    with suppress(ijson.JSONError):  # the sample ends before the file does
        for place, event, value in ijson.parse(_Bytes(head), use_float=True):
            events.append(event)
            if place == prefix and event == "map_key":
                keys.append(value)
            elif place == prefix and event == "end_map":
                break
            elif event in ("string", "number") and place.rpartition(".")[0] == prefix:
                values[place.rpartition(".")[2]] = value
    is_empty = events[1:2] in (["end_array"], ["end_map"])
    if kind is Kind.ARRAY and events[1:2] != ["start_map"] and not is_empty:
        return Shape(Kind.TEXT)  # "[2024-05-01 10:00] Ann: ..." or a Markdown link
    return Shape(kind, frozenset(keys), values, is_empty=is_empty)


def _lines(head: bytes) -> tuple[Mapping[str, Any], ...]:
    found = []
    for line in head.split(b"\n")[:SAMPLE_LINES]:
        with suppress(ValueError, RecursionError):
            one = json.loads(line)
            if isinstance(one, dict):
                found.append(one)
    return tuple(found)


# The parser reads a text from its start again with each buffer: with 64 kB, one of 100 MB takes over a minute.
READ_AT_ONCE = 1 << 21


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        data, self._data = self._data, b""
        return data


def objects_in(member: Member, prefix: str | None = None) -> Iterator[dict[str, Any]]:
    """
    Yield the objects of a JSON file one after the other: the items of an array, one object, or those on its lines.

    Args:
        prefix: The place of the objects, as `ijson.items` reads it, where it is not the outermost one.

    Raises:
        Unreadable: the file is no JSON from some place on; the objects before it were yielded.
    """
    place = ("item" if shape_of(member.head).kind is Kind.ARRAY else "") if prefix is None else prefix
    count = 0
    with member.open() as file:
        try:
            for value in ijson.items(
                Utf8Stream(file), place, buf_size=READ_AT_ONCE, use_float=True, multiple_values=True
            ):
                count += 1
                if isinstance(value, dict):
                    yield value
        except (ijson.JSONError, ValueError, OverflowError) as error:
            said = str(error).strip().partition("\n")[0][:120]
            raise Unreadable(f"it is no valid JSON after its first {count} entries ({said})") from error


def beside(member: Member, tree: Tree, name: str) -> list[dict[str, Any]]:
    """Return the objects of the small file *name* in the folder of *member*; none if it cannot be read."""
    folder, slash, _ = member.name.rpartition("/")
    with suppress(Unreadable):
        if found := tree.get(f"{folder}{slash}{name}"):
            return list(objects_in(found))
    return []


def text_in(value: object) -> str:
    """Return *value* if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def dicts_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in *value* if it is a list, else none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def object_in(value: object) -> dict[str, Any]:
    """Return *value* if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def time_in(value: object) -> str | float | None:
    """Return *value* if it can be a time, else ``None``."""
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
