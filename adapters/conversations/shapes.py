"""Recognition of a file by its first bytes: JSON, lines of it, text, a page or a database, and its first members."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum, auto
from typing import Any, NamedTuple

import ijson

from clawmem.adapters.conversations.members import SAMPLE, Member, Tree, Unreadable, Utf8Stream

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

    ``values`` has texts and numbers only. An empty array or object has no keys and ``is_empty``. ``damage`` is why the
    keys are not all: the first object is no valid JSON.
    """

    kind: Kind
    keys: frozenset[str] = frozenset()
    values: Mapping[str, Any] = {}
    lines: tuple[Mapping[str, Any], ...] = ()
    is_empty: bool = False
    damage: str = ""

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
    keys, values, events, damage = [], {}, list[str](), ""
    try:
        for place, event, value in ijson.parse(_Bytes(with_whole_characters(head)), use_float=True):
            events.append(event)
            if place == prefix and event == "map_key":
                keys.append(value)
            elif place == prefix and event == "end_map":
                break
            elif event in ("string", "number") and place.rpartition(".")[0] == prefix:
                values[place.rpartition(".")[2]] = value
    except (ijson.JSONError, ValueError, OverflowError) as error:
        is_cut = len(head) >= SAMPLE and _CUT in str(error)  # the sample ends before the file does
        damage = "" if is_cut else _reason(error)
    is_empty = events[1:2] in (["end_array"], ["end_map"])
    if kind is Kind.ARRAY and events[1:2] != ["start_map"] and not is_empty:
        return Shape(Kind.TEXT)  # "[2024-05-01 10:00] Ann: ..." or a Markdown link
    return Shape(kind, frozenset(keys), values, is_empty=is_empty, damage=damage)


_CUT = "premature EOF"  # as the parser says it


def _reason(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:120]


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


# Half a character: the first half without a second one, or the second without a first one. An escaped backslash
# begins no escape.
_HALF = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u(?:[dD][89abAB]HH(?!\\u[dD][c-fC-F]HH)|(?<!\\u[dD][89abAB]HH\\u)[dD][c-fC-F]HH)".replace(
        b"HH", b"[0-9a-fA-F]{2}"
    )
)
_OUTSIDE_OF_ESCAPES = (b" ", b",", b":", b"\n")


def with_whole_characters(data: bytes) -> bytes:
    """Return JSON with ``U+FFFD`` in the place of escaped halves of characters, which the parser does not accept."""
    return _HALF.sub(rb"\1\\ufffd", data) if b"\\ud" in data or b"\\uD" in data else data


class _WholeCharacters:
    """Stream of `with_whole_characters`; an escape that is not complete yet waits for the rest of it."""

    def __init__(self, stream: Utf8Stream) -> None:
        self._stream = stream
        self._waiting = b""

    def read(self, size: int = -1) -> bytes:
        """Return about *size* bytes; empty at the end."""
        if size == 0:
            return b""
        data, end = self._waiting, 0
        while not end and (more := self._stream.read(size)):
            data += more
            end = max(map(data.rfind, _OUTSIDE_OF_ESCAPES)) + 1 or len(data) // READ_AT_ONCE * READ_AT_ONCE
        end = end or len(data)
        self._waiting = data[end:]
        return with_whole_characters(data[:end])


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
                _WholeCharacters(Utf8Stream(file)),
                place,
                buf_size=READ_AT_ONCE,
                use_float=True,
                multiple_values=True,
            ):
                count += 1
                if isinstance(value, dict):
                    yield value
        except (ijson.JSONError, ValueError, OverflowError) as error:
            entries = "entry" if count == 1 else f"{count} entries"
            after = f" after its first {entries}" if count else ""
            raise Unreadable(f"it is no valid JSON{after} ({_reason(error)})") from error


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
