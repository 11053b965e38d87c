"""Edits of JSON and JSON5 text: one value is added, replaced or removed, and every other byte stays."""

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
# JSON5, which includes JSON with comments.
_BLANK_5 = re.compile(r"[\s\ufeff]*")
_STRING_5 = re.compile(r"""'(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))*'|"(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*\"""")
_NUMBER_5 = re.compile(
    r"([+-]?)(?:(0[xX][0-9a-fA-F]+)|((?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN))",
    re.ASCII,
)
_NAME_5 = re.compile(r"(?:[^\W\d]|\$|\\u[0-9a-fA-F]{4})(?:[\w$\u200c\u200d]|\\u[0-9a-fA-F]{4})*")
_ESCAPE_5 = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")
_ESCAPED_5 = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"} | dict.fromkeys(
    ("\r\n", "\n", "\r", "\u2028", "\u2029"), ""
)

Key = str | int
Path = tuple[Key, ...]


class Source(str):
    """A value as a file writes it, which edits insert unchanged."""

    __slots__ = ()


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

    def __init__(self, text: str, *, comments: bool, json5: bool) -> None:
        self._text, self._comments, self._json5 = text, comments, json5
        self._blank = _BLANK_5 if json5 else _BLANK

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
        if self._json5 and (string := _STRING_5.match(self._text, at)):
            return Node(at, string.end(), _unescaped(string[0][1:-1]))
        if self._json5 and (number := _NUMBER_5.match(self._text, at)):
            return Node(at, number.end(), _number(*number.groups()))
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
        plain = _NAME_5.match(self._text, at) if self._json5 else None
        if not plain and self._text[at : at + 1] not in (("'", '"') if self._json5 else ('"',)):
            raise self._fault(at, "a name" if self._json5 else "a name in double quotes")
        name = Node(at, plain.end(), _unescaped(plain[0])) if plain else self._node(at)
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
            blanks = self._blank.match(self._text, at)
            at = blanks.end() if blanks else at
            comment = _COMMENT.match(self._text, at) if self._comments else None
            if not comment:
                return at
            at = comment.end()

    def _fault(self, at: int, expected: str) -> ValueError:
        column = at - self._text.rfind("\n", 0, at)
        return ValueError(f"line {line_of(self._text, at)}, column {column}: expected {expected}")


def _unescaped(written: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = escape[1] or escape[2]
        return chr(int(code, 16)) if code else _ESCAPED_5.get(escape[3], escape[3])

    # A character beyond U+FFFF is two escapes.
    return _ESCAPE_5.sub(character, written).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number(sign: str, hexadecimal: str | None, decimal: str) -> int | float:
    is_whole = hexadecimal or decimal.isdecimal()
    value = int(hexadecimal or decimal, 16 if hexadecimal else 10) if is_whole else float(decimal)
    return -value if sign == "-" else value


def line_of(text: str, at: int) -> int:
    """Return the number of the line of *text* at the position *at*."""
    return text.count("\n", 0, at) + 1


def read_json(text: str, *, comments: bool = False, json5: bool = False) -> dict[str, Any]:
    """
    Return the object in *text*; empty for blank text. JSON5 includes comments.

    Raises:
        ValueError: no JSON object, or a duplicate member; the message says where.
    """
    found = _Reader(text, comments=comments or json5, json5=json5).document() if text.strip() else None
    return found.value if found else {}


def source_of(text: str, path: Path) -> Source:
    """Return the value at *path*, which exists, in the notation of *text*."""
    node = _found(_read(text), path)
    assert node
    return Source(text[node.start : node.end])


def with_json(text: str, path: Path, value: Any) -> str:
    """
    Return *text* with the value at *path*, in the existing indentation; missing objects are created.

    Raises:
        ValueError: invalid text, or a part of *path* is no object.
    """
    if not text.strip():
        return f"{json.dumps(_nested(path, value), ensure_ascii=False, indent=_DEFAULT_INDENT)}\n"
    node = _read(text)
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
    node = _found(_read(text), path) if text.strip() else None
    if node is None:
        return with_json(text, path, [value])
    if not isinstance(node.value, list):
        raise ValueError(f"{'.'.join(map(str, path))} is no list")  # noqa: TRY004  the file is wrong
    return _inserted(text, node, value)


def without_json(text: str, path: Path) -> str:
    """Return *text* without the member or element at *path* and one adjacent comma; unchanged if it does not exist."""
    box = _found(_read(text), path[:-1]) if text.strip() else None
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


def _read(text: str) -> Node:
    """Return the value of *text*, which was read in its own format before: JSON5 includes the others."""
    return _Reader(text, comments=True, json5=True).document()


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
    if isinstance(value, Source):
        return value
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
