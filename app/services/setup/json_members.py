"""Changes to one member of a JSON object that leave all other bytes unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_BLANK = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DEFAULT_INDENT = "  "


class Member(NamedTuple):
    """A member of the outermost object: its name, and the positions of name and value in the text."""

    name: str
    start: int
    value_start: int
    end: int


def read_object(text: str) -> dict[str, Any]:
    """
    Return the object in *text*; empty for blank text.

    Raises:
        ValueError: no JSON object, or a duplicate member; the message says where.
    """
    found = json.loads(text, object_pairs_hook=_unique) if text.strip() else {}
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  the file is wrong, not the program
    return found


def with_member(text: str, name: str, value: Any) -> str:
    """
    Return *text* with the member *name* of the outermost object set to *value*, in the existing indentation.

    Other bytes are unchanged. A new member is added at the end.
    """
    if not text.strip():
        return f"{_dumped({name: value}, _DEFAULT_INDENT)}\n"
    members = list(_members(text))
    indent = _indent_of(text)
    written = _dumped(value, indent).replace("\n", f"\n{indent}")
    for member in members:
        if member.name == name:
            return _with_ends_of(text, text[: member.value_start], written, text[member.end :])
    at = members[-1].end if members else text.index("{") + 1
    comma, rest = ("," if members else ""), text[at:]
    after = rest if members and rest.lstrip(" \t\r")[:1] == "\n" else f"\n{rest.lstrip()}"
    return _with_ends_of(text, text[:at], f"{comma}\n{indent}{json.dumps(name)}: {written}", after)


def without_member(text: str, name: str) -> str:
    """Return *text* without the member *name* and one adjacent comma; unchanged if there is no such member."""
    members = list(_members(text))
    names = [member.name for member in members]
    if name not in names:
        return text
    if len(members) == 1:
        return text[: text.index("{") + 1] + text[text.rindex("}") :]
    index = names.index(name)
    if index == 0:
        return text[: members[0].start] + text[members[1].start :]
    return text[: members[index - 1].end] + text[members[index].end :]


def _members(text: str) -> Iterator[Member]:
    """Yield the members of the outermost object of *text*, which must be valid."""
    decoder = json.JSONDecoder()
    at = _after_blanks(text, text.index("{") + 1)
    while text[at] != "}":
        start = at
        name, at = decoder.raw_decode(text, at)
        value_start = _after_blanks(text, _after_blanks(text, at) + 1)
        _, end = decoder.raw_decode(text, value_start)
        yield Member(name, start, value_start, end)
        at = _after_blanks(text, end)
        at = _after_blanks(text, at + 1) if text[at] == "," else at


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANK.match(text, at)
    return blanks.end() if blanks else at


def _indent_of(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else _DEFAULT_INDENT


def _dumped(value: Any, indent: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _with_ends_of(text: str, before: str, written: str, after: str) -> str:
    """Join the three parts, converting *written* to the line ends of *text*."""
    if "\r\n" in text:
        written = written.replace("\n", "\r\n")
        after = after.replace("\n", "\r\n", 1) if after.startswith("\n") else after
    return before + written + after


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it names {twice!r} twice")
    return found
