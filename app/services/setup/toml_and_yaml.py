"""Edits of TOML text: one table is added, replaced or removed, and every other byte stays."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node
from tomlkit.items import InlineTable, Table

from clawmem.app.services.setup.json_text import Path, Source


def read_toml(text: str) -> dict[str, Any]:
    """Return the values in *text*. Raises `ValueError`, whose message says where the text is wrong."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        last = f"at line {text.count(chr(10)) + 1}, the end"
        raise ValueError(str(error).replace("at end of document", last)) from error


def with_toml(text: str, path: Path, value: Any) -> str:
    """Return *text* with the table at *path*, at the end if it is new."""
    document = tomlkit.parse(text)
    box: Any = document
    for key in path[:-1]:
        if key not in box:
            box[key] = tomlkit.table(is_super_table=True)
        box = box[key]
        if not isinstance(box, Mapping):
            raise ValueError(f"{key} is no table")  # noqa: TRY004  the file is wrong, not the program
    if path[-1] in box:
        del box[path[-1]]
    box[path[-1]] = _inline(value) if isinstance(box, InlineTable) else _table(value)
    return tomlkit.dumps(document)


def without_toml(text: str, path: Path) -> str:
    """Return *text* without the table at *path* and the blank line before it; unchanged if it does not exist."""
    document = tomlkit.parse(text)
    box: Any = document
    for key in path[:-1]:
        box = box.get(key, {})
    if path[-1] not in box:
        return text
    del box[path[-1]]
    left = tomlkit.dumps(document)
    is_last = text.startswith(left)  # the blank line before a last table was added with it
    return left[:-1] if is_last and left.endswith("\n\n") else left


def _table(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return tomlkit.item(value)
    table: Table = tomlkit.table()
    for key, one in value.items():
        table[key] = _inline(one) if isinstance(one, Mapping) else one
    return table


def _inline(value: Mapping[str, Any]) -> InlineTable:
    table = tomlkit.inline_table()
    for key, one in value.items():
        table[key] = _inline(one) if isinstance(one, Mapping) else one
    return table


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def read_yaml(text: str) -> dict[str, Any]:
    """Return the mapping in *text*; empty for blank text. Raises `ValueError`, which says where the text is wrong."""
    try:
        found = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{where}{getattr(error, 'problem', None) or error}") from error
    if found is not None and not isinstance(found, dict):
        raise ValueError("it is no mapping")
    return found or {}


def with_yaml(text: str, path: Path, value: str) -> str:
    """Return *text* with the scalar *value* at *path*; missing mappings are added at the end."""
    box, depth = _deepest(text, path)
    if depth == len(path):
        node = _children(box)[str(path[-1])][1]
        at = node.start_mark.index
        blank = " " if text[at - 1] == ":" else ""  # a key without a value
        return f"{text[:at]}{blank}{_scalar(value)}{text[node.end_mark.index :]}"
    indent = " " * (box.start_mark.column if box and depth else 0)
    lines = "".join(
        f"{indent}{'  ' * level}{key}:{f' {_scalar(value)}' if level == len(path) - depth - 1 else ''}\n"
        for level, key in enumerate(path[depth:])
    )
    if box is None or depth == 0:
        return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{lines}"
    if box.flow_style:
        raise ValueError(f"line {box.start_mark.line + 1}: {path[depth - 1]} is written in braces")
    at = box.start_mark.index - box.start_mark.column  # before the first member, as no blank line is there
    return text[:at] + lines + text[at:]


def yaml_source(text: str, path: Path) -> Source:
    """Return the scalar at *path*, which exists, in the notation of *text*."""
    node = _children(_deepest(text, path)[0])[str(path[-1])][1]
    return Source(text[node.start_mark.index : node.end_mark.index])


def without_yaml(text: str, path: Path) -> str:
    """Return *text* without the line of the scalar at *path*; unchanged if it does not exist."""
    box, depth = _deepest(text, path)
    if depth < len(path):
        return text
    if len(path) > 1 and len(box.value) == 1:
        return without_yaml(text, path[:-1])  # a key without a value is no empty mapping
    key, node = _children(box)[str(path[-1])]
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    end = text.find("\n", node.end_mark.index if node.start_mark.index < node.end_mark.index else start)
    return text[:start] + (text[end + 1 :] if end >= 0 else "")


def _deepest(text: str, path: Path) -> tuple[Any, int]:
    """Return the deepest existing mapping on *path*, and how many keys of *path* exist."""
    root = YAML(pure=True).compose(text) if text.strip() else None
    if not isinstance(root, MappingNode):
        return None, 0
    box: Any = root
    depth = 0
    for key in path:
        found = _children(box).get(str(key))
        if not found:
            break
        depth += 1
        if depth < len(path) and not isinstance(found[1], MappingNode):
            raise ValueError(f"line {found[0].start_mark.line + 1}: {key} is no mapping")
        box = found[1] if depth < len(path) else box
    return box, depth


def _children(box: MappingNode) -> dict[str, tuple[Node, Node]]:
    return {key.value: (key, value) for key, value in box.value}


def _scalar(value: str) -> str:
    return (
        value
        if isinstance(value, Source) or _PLAIN.fullmatch(value)
        else json.dumps(value, ensure_ascii=False)
    )
