import re
import tomllib
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.events import AliasEvent

from clawmem.ports.json_text import whole_text

_MAX_BYTES = 64 * 1024
_MAX_DEPTH = 32  # nested brackets: ruamel looks ahead for every open one, which takes 3 s for 60 000
# YAML 1.2 has no other spellings.
_PLAIN: Mapping[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}


class _Composer(Composer):
    def compose_node(self, parent: Any, index: int) -> Any:
        if self.parser.check_event(AliasEvent):  # they multiply: nine lines make 10^8 values
            raise ValueError("aliases are not supported")
        return super().compose_node(parent, index)


def parse_front_matter(text: str, line: int = 2) -> dict[str, object]:
    """
    Parse a front matter without its rulers, YAML from this *line* of a file, which is untrusted input.

    Numbers and dates are strings as written, and tags are ignored. Values nested deeper than a list of scalars become
    strings in flow style. Aliases (``*name``) are refused. Below a line ``+++`` is TOML, whose tables lose their names.

    Returns:
        Values by key, with keys as strings; empty if there is no content except comments.

    Raises:
        ValueError: the YAML is malformed, not a mapping, or too large; the message is short and printable, with the
            line of the file.
    """
    if len(text.encode("utf-8", "replace")) > _MAX_BYTES:
        raise ValueError(f"more than {_MAX_BYTES // 1024} KiB")
    depths = accumulate(1 if bracket in "[{" else -1 for bracket in text if bracket in "[]{}")
    if max(depths, default=0) > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    try:
        # Never the C loader: deep nesting overflows its stack, and it treats tabs differently.
        yaml = YAML(typ="base", pure=True)
        yaml.Composer = _Composer
        # YAML allows tabs that ruamel refuses.
        data = _read_toml(text, line) if text[:3] == "+++" else yaml.load(text.replace("\t", "  "))
        if data is None or data == "null" or isinstance(data, dict):
            return {
                _flow(key): [*map(_item, value)] if isinstance(value, list) else _item(value)
                for key, value in (data.items() if isinstance(data, dict) else ())
            }
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except Exception as error:  # ruamel raises arbitrary exceptions
        mark = getattr(error, "problem_mark", None)
        last_line = text.rstrip().count("\n")  # an unclosed bracket is noticed at the end of the text
        where = f" in line {min(mark.line, last_line) + line}" if mark else ""
        problem = getattr(error, "problem", None) or str(error) or type(error).__name__
        raise ValueError(" ".join(str(problem).split())[:120] + where) from error
    raise ValueError("not a mapping of keys to values")


def _read_toml(text: str, line: int) -> dict[str, object]:
    if any(row.partition("=")[0].count(".") > _MAX_DEPTH for row in text.split("\n")):  # takes 2 s for 15 000
        raise ValueError("nested too deeply")
    try:
        data = tomllib.loads(text.removeprefix("+++\n"))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+),", str(error))
        where = f" in line {int(place[1]) + line - 1}" if place else ""
        raise ValueError(str(error).partition(" (at ")[0] + where) from error
    tables = [value for value in data.values() if isinstance(value, dict)]
    return {key: value for table in (*tables, data) for key, value in table.items() if value not in tables}


def _item(value: object) -> object:
    text = _flow(value)
    return _PLAIN.get(text, text)


def _flow(value: object) -> str:
    r"""Return *value* in flow style, with surrogate pairs (``\ud83d\ude00``) joined and unpaired surrogates replaced."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return whole_text(str(value))
