from __future__ import annotations

import re
import threading
from datetime import date
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ruamel.yaml import YAML

_MAX_BYTES = 64 * 1024
_MAX_ALIASES = 100
_MAX_DEPTH = 32  # of brackets: ruamel looks ahead for every open one, 3 s for 60 000 of them
_MAX_PRINTED = 4 * _MAX_BYTES  # what aliases may blow nested values up to
_MAX_BITS = 256  # of a number: Python refuses to print much longer ones

_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_BRACKET = re.compile(r"[\[\]{}]")
_MERGE = "tag:yaml.org,2002:merge"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"

_of_thread = threading.local()  # a loader costs as much as a parse, and may serve one thread only


def parse_yaml(text: str) -> dict[str, object]:
    """
    The YAML between the two rulers of a front matter, which may have been written by anybody.

    YAML 1.2 as ruamel.yaml reads it: ``yes`` and ``on`` are text, ``2026-01-05`` is a date; a date that
    does not exist is text. Whatever is nested deeper than a list of scalars becomes text in flow style.

    Returns:
        Every key as text; empty for nothing, or for comments alone.

    Raises:
        ValueError: malformed, not a mapping, or absurd in size; the reason is short and printable.
    """
    _refuse_absurd(text)
    try:
        data = _load(text)
        if data is None or isinstance(data, dict):
            return _plain(data or {})
    except Exception as error:  # ruamel leaks whatever its innards stumble over, recursion included
        raise ValueError(_reason(error)) from error
    raise ValueError("not a mapping of keys to values")


def _refuse_absurd(text: str) -> None:
    if len(text.encode("utf-8", "replace")) > _MAX_BYTES:
        raise ValueError(f"more than {_MAX_BYTES // 1024} KiB")
    if text.count("*") > _MAX_ALIASES:
        raise ValueError(f"more than {_MAX_ALIASES} aliases")
    if _depth(text) > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    if _DIRECTIVE.search(text):
        raise ValueError("directives are not supported")  # they would change how later texts are read


def _depth(text: str) -> int:
    return max(accumulate(1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(text)), default=0)


def _load(text: str) -> object:
    # Taken out for the while: after an error its state is not to be trusted, and it is not put back.
    yaml: YAML = _of_thread.__dict__.pop("yaml", None) or _build()
    data: object = yaml.load(text)
    getattr(yaml, "doc_infos", []).clear()  # grows with every load
    _of_thread.yaml = yaml
    return data


def _build() -> YAML:
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import SafeConstructor

    class Constructor(SafeConstructor):
        def flatten_mapping(self, node: Any) -> Any:
            # Merge keys multiply: nine short lines of them make 10^8 entries.
            if any(key.tag == _MERGE for key, _ in node.value):
                raise ValueError("merge keys are not supported")
            return super().flatten_mapping(node)

        def construct_day(self, node: Any) -> object:
            try:
                return self.construct_yaml_timestamp(node)
            except ValueError:
                return self.construct_scalar(node)

    Constructor.add_constructor(_TIMESTAMP, Constructor.construct_day)
    # Never the C loader: deep nesting overruns its stack, and tabs mean other things to it.
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = Constructor
    yaml.composer.warn_double_anchors = False
    return yaml


def _plain(data: dict[object, object]) -> dict[str, object]:
    printer = _Printer()
    plain = {printer.text(key): printer.value(value) for key, value in data.items()}
    if len(plain) < len(data):
        raise ValueError("two keys are the same text")
    return plain


class _Printer:
    """Makes text of nested values, up to a total length."""

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
            return self.text(sorted(map(self.text, value)))  # their own order differs between processes
        if isinstance(value, list | tuple):
            return "[" + ", ".join(map(self.text, value)) + "]"
        return self._leaf(value)

    def _leaf(self, value: object) -> str:
        text = _name(value)
        self._left -= len(text) + 2
        if self._left < 0:
            raise ValueError("aliases make it too long")
        return text


def _name(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _joined(str(value))


def _joined(text: str) -> str:
    """Escaped halves of a character (``\\ud83d\\ude00``) as the one they make; half a one is replaced."""
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
