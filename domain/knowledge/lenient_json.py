"""Reader for the approximate JSON that language models write."""

from __future__ import annotations

import math
import re
from typing import Any, TypeVar

MAX_DEPTH = 40

_FILLING = re.compile(r"(?:\s++|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_SEPARATORS = re.compile(r"(?:[\s,]++|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_WORD = re.compile(r"[\w$.+-]+")
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d+)(?:[eE][+-]?\d+)?")
_KEY = re.compile(r"[^\W\d][\w$-]*")
# A quote only ends its string if something follows that can follow a string; other quotes belong to the text.
_AFTER_STRING = re.compile(r"(?<![ \t])[ \t]*(?:[,:}\]\r\n#]|//|/\*|\Z)")
_CODE_POINT = re.compile(r"u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?")

_QUOTES = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "„": '“”"', "‘": "’‘'", "’": "’'", "«": "»", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""} | {c: c for c in "\"'\\/`"}
_LITERALS = {
    "true": True, "false": False, "null": None, "none": None, "undefined": None, "nan": None, "infinity": None
}  # fmt: skip
_NOTHING: Any = object()  # result where the text ends before a value begins


Value = TypeVar("Value")


class UnreadableJson(ValueError):
    """The text cannot be interpreted as JSON."""


class LenientReader:
    """
    Reads one value from *text*. `place` is then the offset after it, and `is_cut` reports whether the text ended in it.

    The item in which an array was cut off is dropped. An object keeps its previous members, and an unfinished string.
    """

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.is_cut = False

    def value(self, depth: int = 0) -> Any:
        """
        Return the next object, array, string, number or literal.

        Raises:
            Senseless: there is none.
        """
        self._skip(_FILLING)
        sign = self._next()
        if depth > MAX_DEPTH:
            raise UnreadableJson("nested too deeply")
        if not sign:
            return self._cut(_NOTHING)
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._array(depth)
        return self._string() if sign in _QUOTES else self._word()

    def _object(self, depth: int) -> dict[str, Any]:
        self.place += 1
        members: dict[str, Any] = {}
        while not self._is_over("}"):
            name = self._name()
            self._skip(_FILLING)
            if not self._next() or self.is_cut:
                return self._cut(members)
            if self._next() != ":":
                raise UnreadableJson(f"no colon at {self.place}")
            self.place += 1
            value = self.value(depth + 1)
            if value is not _NOTHING:
                members[name] = value
        return members

    def _array(self, depth: int) -> list[Any]:
        self.place += 1
        items: list[Any] = []
        while not self._is_over("]"):
            item = self.value(depth + 1)
            if not self.is_cut:
                items.append(item)
        return items

    def _is_over(self, end: str) -> bool:
        """Whether the object or array ends here: with its bracket, its parent's, or the text."""
        self._skip(_SEPARATORS)
        sign = self._next()
        if not sign:
            self.is_cut = True
        if sign == end:
            self.place += 1
        return self.is_cut or sign in ("}", "]")

    def _name(self) -> str:
        if self._next() in _QUOTES:
            return self._string()
        name = _KEY.match(self.text, self.place)
        if name is None:
            raise UnreadableJson(f"no name at {self.place}")
        self.place = name.end()
        return name[0]

    def _string(self) -> str:
        ends = _QUOTES[self.text[self.place]]
        self.place += 1
        parts: list[str] = []
        while sign := self._next():
            self.place += 1
            if sign == "\\":
                parts.append(self._escaped())
            elif sign in ends and _AFTER_STRING.match(self.text, self.place):
                return "".join(parts)
            else:
                parts.append(sign)
        return self._cut("".join(parts))

    def _escaped(self) -> str:
        if point := _CODE_POINT.match(self.text, self.place):
            return self._code_point(point)
        sign = self._next()
        self.place += 1
        return _ESCAPES.get(sign, f"\\{sign}" if sign else "")

    def _code_point(self, point: re.Match[str]) -> str:
        high, low = point[1], point[2]
        is_pair = 0xD800 <= int(high, 16) < 0xDC00 and low
        self.place = point.end() if is_pair else point.end(1)
        units = bytes.fromhex(high + low if is_pair else high)
        return units.decode("utf-16-be", "replace")

    def _word(self) -> Any:
        found = _WORD.match(self.text, self.place)
        if found is None:
            raise UnreadableJson(f"no value at {self.place}")
        self.place = found.end()
        word = found[0]
        if self.place == len(self.text):
            return self._cut(_NOTHING)  # 0.9 may be a cut-off 0.95
        if word.casefold().lstrip("+-") in _LITERALS:
            return _LITERALS[word.casefold().lstrip("+-")]
        if _NUMBER.fullmatch(word):
            return _number(word)
        raise UnreadableJson(f"{word[:20]!r} is no JSON value")

    def _cut(self, value: Value) -> Value:
        self.is_cut = True
        return value

    def _next(self) -> str:
        """Return the next character; empty at the end of the text."""
        return self.text[self.place : self.place + 1]

    def _skip(self, filling: re.Pattern[str]) -> None:
        match = filling.match(self.text, self.place)
        self.place = match.end() if match else self.place


def _number(word: str) -> int | float | None:
    try:
        number = int(word) if word.lstrip("+-").isdecimal() else float(word)
    except ValueError as error:  # thousands of digits
        raise UnreadableJson("number too long") from error
    return number if math.isfinite(number) else None
