"""Markdown pages of the entities of a knowledge graph."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from clawmem.domain.capture.imported import tool_of_path
from clawmem.domain.knowledge.entities import name_words
from clawmem.ports.errors import InvalidInput

FOLDER = "entities/"
ARROW = " → "
LONGEST_SLUG = 50
MEMORY_FILE = "memory-jsonl"  # the file of the reference memory server, as a tool whose memories are imported

_TYPE = "Type: "
_RELATIONS = "## Relations"


class EntityCard(NamedTuple):
    """
    An entity with observations and relations; a relation is a type and the name of its target.

    Name, type and both parts of a relation are one line each.
    """

    name: str
    type: str
    observations: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()


def path_of(name: str) -> str:
    """Return the path of the page of *name*; different names have different paths."""
    slug = "-".join(name_words(name))[:LONGEST_SLUG] or "entity"
    return f"{FOLDER}{slug}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.md"


def page(card: EntityCard) -> str:
    """Return *card* as Markdown."""
    lines = [f"# {card.name}", "", f"{_TYPE}{card.type}", ""]
    lines += [_item(text) for text in card.observations]
    if card.relations:
        lines += ["", _RELATIONS, "", *(f"- {kind}{ARROW}{to}" for kind, to in card.relations)]
    return "\n".join(lines) + "\n"


def card_of(text: str) -> EntityCard:
    """Return the card of *text*, a result of `page`."""
    head, _, rest = text.partition("\n\n")
    kind, _, body = rest.partition("\n")
    observed, _, related = body.partition(f"\n\n{_RELATIONS}\n\n")
    pairs = [line.removeprefix("- ").partition(ARROW) for line in related.split("\n") if line]
    return EntityCard(
        head.removeprefix("# "),
        kind.removeprefix(_TYPE),
        tuple(_items(observed.strip("\n"))),
        tuple((relation, to) for relation, _, to in pairs),
    )


def card_at(path: str, text: str) -> EntityCard | None:
    """Return the card of *text*, a page of an entity at its *path* or an imported one; ``None`` for other documents."""
    card = card_of(text)
    is_place = path_of(card.name) == path or tool_of_path(path) == MEMORY_FILE
    return card if is_place and page(card) == text else None


def checked(card: EntityCard) -> EntityCard:
    """
    Return *card* without empty observations.

    Raises:
        InvalidInput: A name or a type is empty, has several lines or contains an arrow.
    """
    parts = (card.name, card.type, *(part for pair in card.relations for part in pair))
    if any(not part.strip() or len(part.splitlines()) != 1 or ARROW in part for part in parts):
        raise InvalidInput(
            "INVALID_INPUT", f"Names and types are one line each, not empty and without '{ARROW.strip()}'."
        )
    return card._replace(observations=tuple(text.strip() for text in card.observations if text.strip()))


def _item(text: str) -> str:
    return "- " + text.replace("\n", "\n  ")


def _items(text: str) -> list[str]:
    found: list[str] = []
    for line in text.split("\n") if text else ():
        if line.startswith("- "):
            found.append(line.removeprefix("- "))
        elif found:
            found[-1] += "\n" + line.removeprefix("  ")
    return found
