"""Edits of TOML text: one table is added, replaced or removed, and every other byte stays."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Table

from clawmem.app.services.setup.json_text import Path


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
