from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor

_MAX_BYTES = 64 * 1024
_MAX_DEPTH = 32  # nested brackets: ruamel looks ahead for every open one, which takes 3 s for 60 000
_BRACKET = re.compile(r"[\[\]{}]")
_TAG = "tag:yaml.org,2002:"


class _Constructor(SafeConstructor):
    def flatten_mapping(self, node: Any) -> Any:
        if any(key.tag == f"{_TAG}merge" for key, _ in node.value):
            raise ValueError("merge keys are not supported")
        return super().flatten_mapping(node)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        if node in self.constructed_objects:  # like merge keys they multiply: nine lines make 10^8 values
            raise ValueError("aliases are not supported")
        return super().construct_object(node, deep=deep)

    def construct_text(self, node: Any) -> str:
        r"""Return a text with surrogate pairs (``\ud83d\ude00``) joined and unpaired surrogates replaced."""
        text: str = self.construct_scalar(node)
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


for _tag in ("str", "int", "float", "timestamp"):  # a price keeps its cents, and a postcode its first zero
    _Constructor.add_constructor(f"{_TAG}{_tag}", _Constructor.construct_text)


def parse_yaml(text: str) -> dict[str, object]:
    """
    Parse the YAML between the two rulers of a front matter, which is untrusted input.

    YAML 1.2 as in ruamel.yaml, except that numbers and dates are strings as written. Values nested deeper than a list of
    scalars become strings in flow style. Aliases (``*name``) are refused.

    Returns:
        Values by key, with keys as strings; empty if there is no content except comments.

    Raises:
        ValueError: the YAML is malformed, not a mapping, or too large; the message is short and printable, with the
            line of the file that has the front matter at its beginning.
    """
    if len(text.encode("utf-8", "replace")) > _MAX_BYTES:
        raise ValueError(f"more than {_MAX_BYTES // 1024} KiB")
    depths = accumulate(1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(text))
    if max(depths, default=0) > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    try:
        # Never the C loader: deep nesting overflows its stack, and it treats tabs differently.
        yaml = YAML(typ="safe", pure=True)
        yaml.Constructor = _Constructor
        data = yaml.load(text)
        if data is None or isinstance(data, dict):
            return {
                _flow(key): [*map(_item, value)] if isinstance(value, list) else _item(value)
                for key, value in (data or {}).items()
            }
    except Exception as error:  # ruamel raises arbitrary exceptions, including RecursionError
        raise ValueError(_reason(error, text)) from error
    raise ValueError("not a mapping of keys to values")


def _item(value: object) -> object:
    return value if isinstance(value, str | bool | None) else _flow(value)


def _flow(value: object) -> str:
    """Return *value* in flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, set):  # whose order differs between processes
        return _flow(sorted(map(_flow, value)))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value)


def _reason(error: Exception, text: str) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    mark = getattr(error, "problem_mark", None)
    last_line = text.rstrip().count("\n")  # an unclosed bracket is noticed at the end of the text
    where = f" in line {min(mark.line, last_line) + 2}" if mark else ""
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    return " ".join(str(problem).split())[:120] + where
