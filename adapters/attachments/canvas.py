from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.adapters.attachments.pages import DamagedFile
from clawmem.ports.files import ExtractedText

MAX_HEADING = 60  # characters of a card's first line

Node = Mapping[str, Any]


def read_canvas(data: bytes) -> ExtractedText:
    """
    Return the cards of an Obsidian canvas, each below its group; then the labelled connections.

    A card with a note becomes an embed of that note.

    Raises:
        DamagedFile: it is no JSON, or no canvas.
    """
    if not data.strip():
        return ExtractedText("", has_links=True)  # Obsidian creates empty files
    try:
        canvas = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DamagedFile("it is no JSON; open it in Obsidian and save it again") from error
    if not isinstance(canvas, dict):
        raise DamagedFile("it is no canvas: its JSON is no object")
    nodes = [one for one in _list(canvas, "nodes") if _text(one, "type")]
    body = "\n\n".join([*_groups(nodes), *_connections(_list(canvas, "edges"), nodes)])
    return ExtractedText(body, has_links=True)


def _groups(nodes: list[Node]) -> Iterator[str]:
    """Yield the cards outside of groups, then those of each group below its label, in reading order."""
    groups = [one for one in nodes if one["type"] == "group"]
    cards = sorted((one for one in nodes if one["type"] != "group"), key=_place)
    of_group: dict[int, list[Node]] = {}
    for card in cards:
        around = [number for number, group in enumerate(groups) if _is_inside(card, group)]
        of_group.setdefault(min(around, key=lambda one: _area(groups[one]), default=-1), []).append(card)
    for number in sorted(of_group, key=lambda one: (one >= 0, _place(groups[one]) if one >= 0 else (0, 0))):
        if number >= 0:
            yield f"# {_line(_text(groups[number], 'label')) or 'Group'}"
        yield from filter(None, map(_card, of_group[number]))


def _card(node: Node) -> str:
    match node["type"]:
        case "text":
            text = _text(node, "text").strip()
            return text if not text or text.startswith("#") else f"## {_title(text)}\n\n{text}"
        case "file":
            file = _text(node, "file")
            return f"## {_line(file)}\n\n![[{file}{_text(node, 'subpath')}]]" if file else ""
        case "link":
            return f"## Link\n\n{_text(node, 'url')}"
        case _:
            return ""


def _connections(edges: list[Node], nodes: list[Node]) -> Iterator[str]:
    names = {_text(one, "id"): _name(one) for one in nodes}
    rows = [
        f"- {names.get(_text(edge, 'fromNode'), '')} → {names.get(_text(edge, 'toNode'), '')}: {label}"
        for edge in edges
        if (label := _line(_text(edge, "label")))
    ]
    if rows:
        yield "\n".join(["# Connections", "", *rows])


def _name(node: Node) -> str:
    return _title(next(filter(None, (_text(node, key) for key in ("text", "label", "file", "url"))), ""))


def _title(text: str) -> str:
    first = next(filter(None, (line.strip("#>*-_ \t") for line in text.splitlines())), "Card")
    return first if len(first) <= MAX_HEADING else f"{first[:MAX_HEADING].rsplit(' ', 1)[0]} …"


def _line(text: str) -> str:
    return " ".join(text.split())


def _text(node: Node, key: str) -> str:
    value = node.get(key)
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _list(canvas: Node, key: str) -> list[Node]:
    found = canvas.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _number(node: Node, key: str) -> float:
    value = node.get(key)
    return value if isinstance(value, int | float) and abs(value) < 1e12 else 0


def _place(node: Node) -> tuple[float, float]:
    return _number(node, "y"), _number(node, "x")


def _area(node: Node) -> float:
    return _number(node, "width") * _number(node, "height")


def _is_inside(card: Node, group: Node) -> bool:
    (top, left), (group_top, group_left) = _place(card), _place(group)
    is_right = group_left <= left < group_left + _number(group, "width")
    return is_right and group_top <= top < group_top + _number(group, "height")
