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
    try:
        canvas = json.loads(data.decode("utf-8-sig") or "{}")  # Obsidian creates empty files
    except (ValueError, RecursionError) as error:
        raise DamagedFile("it is no JSON; open it in Obsidian and save it again") from error
    if not isinstance(canvas, dict):
        raise DamagedFile("it is no canvas: its JSON is no object")
    nodes = [node for node in _list(canvas, "nodes") if _text(node, "type")]
    names = {_text(node, "id"): _name(node) for node in nodes}
    connections = [
        f"- {names.get(_text(edge, 'fromNode'), '')} → {names.get(_text(edge, 'toNode'), '')}: {label}"
        for edge in _list(canvas, "edges")
        if (label := _text(edge, "label"))
    ]
    blocks = [*_groups(nodes), *(["# Connections", "\n".join(connections)] if connections else [])]
    return ExtractedText("\n\n".join(blocks), has_links=True)


def _groups(nodes: list[Node]) -> Iterator[str]:
    """Yield the cards outside of groups, then those of each group below its label, in reading order."""
    ordered = sorted(nodes, key=lambda node: (_number(node, "y"), _number(node, "x")))
    groups = [node for node in ordered if node["type"] == "group"]
    cards_of: dict[int, list[str]] = {number: [] for number in range(-1, len(groups))}
    for node in ordered:
        around = [number for number, group in enumerate(groups) if _is_inside(node, group)]
        cards_of[around[-1] if around else -1].append(_card(node))  # the innermost begins last
    for number, cards in cards_of.items():
        if texts := [text for text in cards if text]:
            if number >= 0:
                yield f"# {_text(groups[number], 'label') or 'Group'}"
            yield from texts


def _card(node: Node) -> str:
    match node["type"]:
        case "text":
            text = str(node.get("text", "")).strip()
            return text if not text or text.startswith("#") else f"## {_name(node)}\n\n{text}"
        case "file":
            file = _text(node, "file")
            return f"## {file}\n\n![[{file}{_text(node, 'subpath')}]]" if file else ""
        case "link":
            return f"## Link\n\n{_text(node, 'url')}"
        case _:
            return ""


def _name(node: Node) -> str:
    """Return the first line of a card with words, as the heading that its text may need."""
    text = next(filter(None, (node.get(key) for key in ("text", "label", "file", "url"))), "")
    first = next(filter(None, (line.strip("#>*-_ \t") for line in str(text).splitlines())), "Card")
    return first if len(first) <= MAX_HEADING else f"{first[:MAX_HEADING].rsplit(' ', 1)[0]} …"


def _text(node: Node, key: str) -> str:
    """Return a text in one line."""
    value = node.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _list(canvas: Node, key: str) -> list[Node]:
    value = canvas.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _number(node: Node, key: str) -> float:
    value = node.get(key)
    return value if isinstance(value, int | float) else 0


def _is_inside(card: Node, group: Node) -> bool:
    return all(
        _number(group, start) <= _number(card, start) < _number(group, start) + _number(group, size)
        for start, size in (("x", "width"), ("y", "height"))
    )
