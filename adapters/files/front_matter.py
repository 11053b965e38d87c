from __future__ import annotations

import re
from datetime import date
from itertools import accumulate
from threading import local
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor

_MAX_BYTES = 64 * 1024
_MAX_ALIASES = 100
_MAX_DEPTH = 32  # nested brackets: ruamel looks ahead for every open one, which takes 3 s for 60 000
_MAX_PRINTED = 4 * _MAX_BYTES  # limit for nested values, which aliases can multiply
_MAX_BITS = 256  # bits of a number: Python refuses to print much longer ones

_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_BRACKET = re.compile(r"[\[\]{}]")
_TAG = "tag:yaml.org,2002:"

_of_thread = local()  # creating a loader takes as long as a parse, and a loader is not thread-safe


class _WrittenInteger(int):
    """Integer that prints as it was written: ``0171``."""

    written: str

    def __str__(self) -> str:
        return self.written


class _WrittenFloat(float):
    """Number that prints as it was written: ``2150.00``."""

    written: str

    def __str__(self) -> str:
        return self.written


class _Constructor(SafeConstructor):
    def flatten_mapping(self, node: Any) -> Any:
        # Merge keys multiply: nine short lines of them make 10^8 entries.
        if any(key.tag == f"{_TAG}merge" for key, _ in node.value):
            raise ValueError("merge keys are not supported")
        return super().flatten_mapping(node)

    def construct_day(self, node: Any) -> object:
        try:
            return self.construct_yaml_timestamp(node)
        except ValueError:
            return self.construct_scalar(node)

    def construct_integer(self, node: Any) -> _WrittenInteger:
        number = _WrittenInteger(self.construct_yaml_int(node))
        number.written = node.value
        return number

    def construct_number(self, node: Any) -> _WrittenFloat:
        number = _WrittenFloat(self.construct_yaml_float(node))
        number.written = node.value
        return number


_Constructor.add_constructor(f"{_TAG}timestamp", _Constructor.construct_day)
_Constructor.add_constructor(f"{_TAG}int", _Constructor.construct_integer)
_Constructor.add_constructor(f"{_TAG}float", _Constructor.construct_number)


def parse_yaml(text: str) -> dict[str, object]:
    """
    Parse the YAML between the two rulers of a front matter, which is untrusted input.

    YAML 1.2 as in ruamel.yaml: ``yes`` and ``on`` are strings, ``2026-01-05`` is a date; a date that does not
    exist is a string, and ``str()`` of a number is its text as written. Values nested deeper than a list of scalars become strings in flow style.

    Returns:
        Values by key, with keys as strings; empty if there is no content except comments.

    Raises:
        ValueError: the YAML is malformed, not a mapping, or too large; the message is short and printable.
    """
    _check_limits(text)
    try:
        data = _load(text)
        if data is None or isinstance(data, dict):
            return _plain(data or {})
    except Exception as error:  # ruamel raises arbitrary exceptions, including RecursionError
        raise ValueError(_reason(error)) from error
    raise ValueError("not a mapping of keys to values")


def _check_limits(text: str) -> None:
    if len(text.encode("utf-8", "replace")) > _MAX_BYTES:
        raise ValueError(f"more than {_MAX_BYTES // 1024} KiB")
    if text.count("*") > _MAX_ALIASES:
        raise ValueError(f"more than {_MAX_ALIASES} aliases")
    depths = accumulate(1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(text))
    if max(depths, default=0) > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    if _DIRECTIVE.search(text):  # it would change how the loader reads later texts
        raise ValueError("directives are not supported")


def _load(text: str) -> object:
    # Removed during the parse, so that a loader is not reused after an error.
    yaml: YAML | None = _of_thread.__dict__.pop("yaml", None)
    if yaml is None:
        # Never the C loader: deep nesting overflows its stack, and it treats tabs differently.
        yaml = YAML(typ="safe", pure=True)
        yaml.Constructor = _Constructor
        yaml.composer.warn_double_anchors = False
    data: object = yaml.load(text)
    getattr(yaml, "doc_infos", []).clear()  # this list grows with every load
    _of_thread.yaml = yaml
    return data


def _plain(data: dict[object, object]) -> dict[str, object]:
    printer = _ValuePrinter()
    plain = {printer.text(key): printer.value(value) for key, value in data.items()}
    if len(plain) < len(data):
        raise ValueError("two keys are the same text")
    return plain


class _ValuePrinter:
    """Converter of nested values to text, up to a total length."""

    def __init__(self) -> None:
        self._left = _MAX_PRINTED

    def value(self, value: object) -> object:
        return [self._item(item) for item in value] if isinstance(value, list) else self._item(value)

    def _item(self, value: object) -> object:
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise ValueError("a number is too long")
        if isinstance(value, str):
            return _joined(value)
        return value if isinstance(value, int | float | date | None) else self.text(value)

    def text(self, value: object) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.text(k)}: {self.text(v)}" for k, v in value.items()) + "}"
        if isinstance(value, set):
            return self.text(sorted(map(self.text, value)))  # the order of a set differs between processes
        if isinstance(value, list | tuple):
            return "[" + ", ".join(map(self.text, value)) + "]"
        if value is None or isinstance(value, bool):
            text = {None: "null", True: "true", False: "false"}[value]
        else:
            text = value.isoformat() if isinstance(value, date) else _joined(str(value))
        self._left -= len(text) + 2
        if self._left < 0:
            raise ValueError("aliases make it too long")
        return text


def _joined(text: str) -> str:
    r"""Return *text* with surrogate pairs (``\ud83d\ude00``) joined and unpaired surrogates replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 1}" if mark else ""
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    return " ".join(str(problem).split())[:120] + where
