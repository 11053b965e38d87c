"""Objects and lists of a JSON5 text that change in place and keep the comments around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, MutableMapping, MutableSequence
from copy import deepcopy
from typing import Any, NamedTuple, cast

from json5.dumper import ModelDumper, dumps
from json5.loader import DefaultLoader, ModelLoader, loads
from json5.model import Comment, Identifier, JSONArray, JSONObject, Key, LineComment, String, Value

Blanks = list[str | Comment]
"""Blanks and comments between two tokens."""


class Layout(NamedTuple):
    """Indentation of one level and line end of a text."""

    indent: str = "  "
    newline: str = "\n"

    @classmethod
    def of(cls, text: str) -> Layout:
        """Return the layout of *text*: that of its first indented line."""
        indented = re.search(r"\n([ \t]+)\S", text)
        return cls(indented[1] if indented else "  ", "\r\n" if "\r\n" in text else "\n")


class _Box:
    """An object or a list with its layout; *outer* is the indentation of the line where it begins."""

    def __init__(self, node: JSONObject | JSONArray, layout: Layout, outer: str = "") -> None:
        self._node, self._layout, self._outer = node, layout, outer

    @property
    def _heads(self) -> list[Any]:
        """The nodes that begin each child: the keys of an object, the elements of a list."""
        return self._node.keys if isinstance(self._node, JSONObject) else self._node.values

    def __len__(self) -> int:
        return len(self._node.values)

    def _child(self, at: int) -> Any:
        node = self._node.values[at]
        if isinstance(node, JSONObject):
            return Json5Object(node, self._layout, self._indent(at))
        return (
            Json5List(node, self._layout, self._indent(at))
            if isinstance(node, JSONArray)
            else DefaultLoader().load(node)
        )

    def _blanks(self, at: int) -> str:
        """Return the blanks before child *at*, without comments."""
        before = [*(self._node.leading_wsc if at == 0 else ()), *self._heads[at].wsc_before]
        return "".join(part for part in before if isinstance(part, str))

    def _indent(self, at: int) -> str:
        """Return the indentation of the line in which child *at* begins."""
        _, newline, indent = self._blanks(at).rpartition("\n")
        return indent if newline else self._outer

    def _value(self, value: Any, indent: str) -> Value:
        if isinstance(value, Value):
            return deepcopy(value)
        text = json.dumps(value, ensure_ascii=False, indent=self._layout.indent)
        node = loads(text.replace("\n", self._layout.newline + indent), loader=ModelLoader()).value
        node.wsc_before = [" "] if isinstance(self._node, JSONObject) else []
        return cast("Value", node)

    def _replace(self, at: int, value: Any) -> None:
        before = self._node.values[at]
        node = self._value(value, self._indent(at))
        node.wsc_before, node.wsc_after = before.wsc_before, before.wsc_after
        self._node.values[at] = node

    def _append(self, value: Any, key: Key | None = None) -> None:
        """Append a child in a line of its own; a comment in the line of its predecessor stays there."""
        box, is_split = self._node, bool(self) and "\n" in self._blanks(0)
        indent = self._indent(0) if is_split else self._outer + self._layout.indent
        node, end = self._value(value, indent), [self._layout.newline + self._outer]
        if box.trailing_comma:
            rest, box.trailing_comma.wsc_after = box.trailing_comma.wsc_after, [*end]
        else:
            node.wsc_after = [*end]
            if box.values:
                rest, box.values[-1].wsc_after = box.values[-1].wsc_after, []
            else:
                rest, box.leading_wsc = box.leading_wsc, []
        (key or node).wsc_before = [*_trimmed(rest), self._layout.newline + indent]
        if key:
            self._heads.append(key)
        box.values.append(node)

    def _delete(self, at: int) -> None:
        """Delete a child; comments before and after it stay."""
        box, head = self._node, self._heads[at]
        is_split = "\n" in self._blanks(0)
        after = box.values.pop(at).wsc_after
        if isinstance(box, JSONObject):
            del box.keys[at]
        comments = [*_trimmed(head.wsc_before), *_trimmed(after)]
        newline = self._layout.newline + self._outer
        if at < len(self):
            following = self._heads[at]
            first, *rest = following.wsc_before or [""]
            kept = rest if at == 0 and isinstance(first, str) else following.wsc_before
            following.wsc_before = _closed([*comments, *kept], newline)
        elif not box.values:
            trailing = box.trailing_comma.wsc_after if box.trailing_comma else []
            left = [*_trimmed(box.leading_wsc), *comments, *_trimmed(trailing)]
            box.leading_wsc, box.trailing_comma = [*left, newline] if left else [], None
        elif box.trailing_comma:
            rest = box.trailing_comma.wsc_after
            box.trailing_comma.wsc_after = _closed(
                [*comments, *(rest if is_split else _trimmed(rest))], newline
            )
        else:
            last, rest = box.values[-1], after if is_split else _trimmed(after)
            last.wsc_after = _closed([*last.wsc_after, *_trimmed(head.wsc_before), *rest], newline)


class Json5Object(_Box, MutableMapping[str, Any]):
    """An object of a JSON5 text. A member can be set to a node of another text, to keep its notation."""

    def node(self, key: str) -> Value:
        """Return the node of the member *key*."""
        return self._node.values[self._at(key)]

    def __getitem__(self, key: str) -> Any:
        return self._child(self._at(key))

    def __setitem__(self, key: str, value: Any) -> None:
        if key in self:
            self._replace(self._at(key), value)
        else:
            self._append(value, String(key, json.dumps(key, ensure_ascii=False)))

    def __delitem__(self, key: str) -> None:
        self._delete(self._at(key))

    def __iter__(self) -> Iterator[str]:
        return (key.name if isinstance(key, Identifier) else key.characters for key in self._heads)

    def _at(self, key: str) -> int:
        try:
            return list(self).index(key)
        except ValueError:
            raise KeyError(key) from None


class Json5List(_Box, MutableSequence[Any]):
    """A list of a JSON5 text. Values are added at the end."""

    def __getitem__(self, at: Any) -> Any:
        return self._child(at)

    def __setitem__(self, at: Any, value: Any) -> None:
        self._replace(at, value)

    def __delitem__(self, at: Any) -> None:
        self._delete(at)

    def insert(self, index: int, value: Any) -> None:
        self._append(value)


class Json5Text:
    """
    A JSON5 text whose `root` can be changed.

    Raises:
        ValueError: *text* is no JSON5 object, or has a member twice; the message says where.
    """

    def __init__(self, text: str) -> None:
        try:
            loads(text, object_pairs_hook=unique_members)
            self._model = loads(text, loader=ModelLoader())
        except json.JSONDecodeError as error:
            place = re.search(r"line (\d+) column (\d+)", str(error))
            where = f"line {place[1]}, column {place[2]}: " if place else ""
            raise ValueError(f"{where}syntax error") from error
        if not isinstance(self._model.value, JSONObject):
            raise ValueError("it is no JSON object")  # noqa: TRY004  the file is wrong, not the program
        self.root = Json5Object(self._model.value, Layout.of(text))

    def __str__(self) -> str:
        return dumps(self._model, dumper=ModelDumper())  # type: ignore[arg-type]  # as its documentation shows


def unique_members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of *members*. Raises `ValueError` if two have one name."""
    names = [name for name, _ in members]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{str(twice)!r} is there twice")
    return dict(members)


def _trimmed(blanks: Blanks) -> Blanks:
    """Return *blanks* up to the last comment."""
    last = max((at for at, part in enumerate(blanks) if isinstance(part, Comment)), default=-1)
    return blanks[: last + 1]


def _closed(blanks: Blanks, newline: str) -> Blanks:
    """Return *blanks* with a line end after each line comment."""
    parts: Blanks = []
    for part in blanks:
        if parts and isinstance(parts[-1], LineComment) and not (isinstance(part, str) and "\n" in part):
            parts.append(newline)
        parts.append(part)
    return [*parts, newline] if parts and isinstance(parts[-1], LineComment) else parts
