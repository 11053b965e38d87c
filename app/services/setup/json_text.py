"""Edits of JSON text, also with comments: one value is added, replaced or removed, and every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_BLANK = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_SAME_LINE_COMMENT = re.compile(r"(?<![ \t])[ \t]*//[^\r\n]*")  # one try for each stretch of blanks
_INDENT = re.compile(r"\n([ \t]+)\S")
_DEFAULT_INDENT = "  "
_SCALARS = json.JSONDecoder()

Key = str | int
Path = tuple[Key, ...]


class Node(NamedTuple):
    """A value with its position in the text; ``children`` are those of an object or a list."""

    start: int
    end: int
    value: Any
    children: tuple[Child, ...] = ()


class Child(NamedTuple):
    """A member or an element: ``start`` is that of its name, ``comma`` the position of the comma after it, or -1."""

    key: Key
    start: int
    node: Node
    comma: int

    @property
    def end(self) -> int:
        """The position after the child and its comma."""
        return self.node.end if self.comma < 0 else self.comma + 1


class _Reader:
    """Recursive parser that keeps positions."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self._text, self._comments = text, comments

    def document(self) -> Node:
        at = self._after_blanks(0)
        node = self._node(at)
        rest = self._after_blanks(node.end)
        if rest < len(self._text):
            raise self._fault(rest, "the end of the file")
        if not isinstance(node.value, dict):
            raise ValueError("it is no JSON object")  # noqa: TRY004  the file is wrong, not the program
        return node

    def _node(self, at: int) -> Node:
        opening = self._text[at : at + 1]
        if opening == "{":
            children = tuple(self._children(at, "}"))
            return Node(at, self._end(at, children), self._object(children), children)
        if opening == "[":
            children = tuple(self._children(at, "]"))
            return Node(at, self._end(at, children), [one.node.value for one in children], children)
        try:
            value, end = _SCALARS.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            raise self._fault(error.pos, "a value") from error
        return Node(at, end, value)

    def _children(self, at: int, closing: str) -> Iterator[Child]:
        at, number = self._after_blanks(at + 1), 0
        while self._text[at : at + 1] != closing:
            start, key = at, number
            if closing == "}":
                key, at = self._name(at)  # type: ignore[assignment]
            node = self._node(at)
            at = self._after_blanks(node.end)
            comma = at if self._text[at : at + 1] == "," else -1
            if comma < 0 and self._text[at : at + 1] != closing:
                raise self._fault(at, f"a comma or {closing}")
            yield Child(key, start, node, comma)
            at, number = self._after_blanks(at + (comma >= 0)), number + 1
            if comma >= 0 and not self._comments and self._text[at : at + 1] == closing:
                raise self._fault(comma, "no comma before the closing bracket")

    def _name(self, at: int) -> tuple[str, int]:
        if self._text[at : at + 1] != '"':
            raise self._fault(at, "a name in double quotes")
        name = self._node(at)
        at = self._after_blanks(name.end)
        if self._text[at : at + 1] != ":":
            raise self._fault(at, "a colon")
        return name.value, self._after_blanks(at + 1)

    def _object(self, children: tuple[Child, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in children:
            if one.key in found:
                raise ValueError(f"line {line_of(self._text, one.start)}: {one.key!r} is there twice")
            found[str(one.key)] = one.node.value
        return found

    def _end(self, start: int, children: tuple[Child, ...]) -> int:
        return self._after_blanks(children[-1].end if children else start + 1) + 1

    def _after_blanks(self, at: int) -> int:
        while True:
            blanks = _BLANK.match(self._text, at)
            at = blanks.end() if blanks else at
            comment = _COMMENT.match(self._text, at) if self._comments else None
            if not comment:
                return at
            at = comment.end()

    def _fault(self, at: int, expected: str) -> ValueError:
        column = at - self._text.rfind("\n", 0, at)
        return ValueError(f"line {line_of(self._text, at)}, column {column}: expected {expected}")


def line_of(text: str, at: int) -> int:
    """Return the number of the line of *text* at the position *at*."""
    return text.count("\n", 0, at) + 1


def read_json(text: str, *, comments: bool = False) -> dict[str, Any]:
    """
    Return the object in *text*; empty for blank text.

    Raises:
        ValueError: no JSON object, or a duplicate member; the message says where.
    """
    return _read(text, comments).value if text.strip() else {}


def with_json(text: str, path: Path, value: Any) -> str:
    """
    Return *text* with the value at *path*, in the existing indentation; missing objects are created.

    Raises:
        ValueError: invalid text, or a part of *path* is no object.
    """
    if not text.strip():
        return f"{json.dumps(_nested(path, value), ensure_ascii=False, indent=_DEFAULT_INDENT)}\n"
    node = _read(text, True)
    for depth, key in enumerate(path):
        child = next((one for one in node.children if one.key == key), None)
        if child is None:
            if not isinstance(node.value, dict):
                raise ValueError(f"{'.'.join(map(str, path[:depth]))} is no object")
            return _inserted(text, node, _nested(path[depth + 1 :], value), f"{json.dumps(key)}: ")
        node = child.node
    indent = _line_indent(text, node.start)
    return text[: node.start] + _dumped(text, value, indent) + text[node.end :]


def with_json_element(text: str, path: Path, value: Any) -> str:
    """Return *text* with *value* at the end of the list at *path*, which is created if it does not exist."""
    node = _found(_read(text, True), path) if text.strip() else None
    if node is None:
        return with_json(text, path, [value])
    if not isinstance(node.value, list):
        raise ValueError(f"{'.'.join(map(str, path))} is no list")  # noqa: TRY004  the file is wrong
    return _inserted(text, node, value)


def without_json(text: str, path: Path) -> str:
    """Return *text* without the member or element at *path* and one adjacent comma; unchanged if it does not exist."""
    box = _found(_read(text, True), path[:-1]) if text.strip() else None
    names = [one.key for one in box.children] if box else []
    if box is None or path[-1] not in names:
        return text
    index = names.index(path[-1])
    child, after = box.children[index], text[box.children[index].end : box.end - 1]
    if len(names) == 1:
        before = text[box.start + 1 : child.start]
        inner = before.rstrip() + after if (before + after).strip() else ""
        return text[: box.start + 1] + inner + text[box.end - 1 :]
    if index + 1 < len(names):
        following = text[child.end : box.children[index + 1].start]
        return text[: child.start] + following.lstrip() + text[box.children[index + 1].start :]
    last = box.children[index - 1]
    gap = text[last.node.end : child.start]
    if child.comma < 0:
        gap = gap[: last.comma - last.node.end] + gap[last.comma - last.node.end + 1 :]
    begin = text[box.start + 1 : box.children[0].start]
    if "\n" not in begin and not begin.strip() and not after.strip():
        after = begin  # as the list or object was written in one line
    gap = gap.rstrip()
    if "//" in gap.rpartition("\n")[2] and "\n" not in after:  # or the comment would include the bracket
        after = f"{_end_of_line(text)}{_line_indent(text, box.start)}"
    return text[: last.node.end] + gap + after + text[box.end - 1 :]


def _read(text: str, comments: bool) -> Node:
    return _Reader(text, comments=comments).document()


def _found(node: Node, path: Path) -> Node | None:
    for key in path:
        child = next((one for one in node.children if one.key == key), None)
        if child is None:
            return None
        node = child.node
    return node


def _inserted(text: str, box: Node, value: Any, name: str = "") -> str:
    """Return *text* with a new last child in *box*; a comment in the line of its predecessor stays there."""
    outer, first = _line_indent(text, box.start), box.children[0] if box.children else None
    is_split = first is not None and "\n" in text[box.start : first.start]
    inner = _line_indent(text, first.start) if first and is_split else outer + _indent_of(text)
    written = f"{_end_of_line(text)}{inner}{name}{_dumped(text, value, inner)}"
    if first is None:
        before, comma, rest = text[: box.end - 1].rstrip(), "", ""
    else:
        last = box.children[-1]
        comment = _SAME_LINE_COMMENT.match(text, last.end)
        at = comment.end() if comment else last.end
        comma = "" if last.comma < 0 else ","
        before = text[: last.node.end] + ("," if last.comma < 0 else "") + text[last.node.end : at]
        rest = text[at : box.end - 1]
    if "\n" not in rest:
        rest = f"{rest.rstrip()}{_end_of_line(text)}{outer}"
    return before + written + comma + rest + text[box.end - 1 :]


def _dumped(text: str, value: Any, indent: str) -> str:
    written = json.dumps(value, ensure_ascii=False, indent=_indent_of(text))
    return written.replace("\n", f"{_end_of_line(text)}{indent}")


def _nested(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _line_indent(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_of(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else _DEFAULT_INDENT


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
