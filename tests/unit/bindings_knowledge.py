"""How the vectors of what is known of things call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.knowledge.enrichment import (
    Content,
    entity_weight,
    least_rarity,
    rarity,
    read_content,
    read_evolution,
    read_links,
)
from clawmem.domain.knowledge.entities import Name, cap_of, entity_id, is_name, is_same, names_in
from clawmem.domain.knowledge.triples import Statement, ends_statement, proves, read_triples
from clawmem.domain.text.likeness import edit_similarity


def _ended_by(given: dict[str, Any]) -> bool:
    return ends_statement([Statement(*one) for one in given["new"]], Statement(*given["held"]))


def _same_name(given: dict[str, Any]) -> dict[str, Any]:
    one, other = Name(*given["one"]), Name(*given["other"])
    return {"similarity": edit_similarity(one.name, other.name), "same": is_same(one, other)}


def _rarity(given: dict[str, Any]) -> dict[str, float]:
    return {"rarity": rarity(**given), "least": least_rarity(given["documents"])}


def _names(given: dict[str, Any]) -> list[list[str]]:
    known = given.pop("known", ())
    return [list(name) for name in names_in(**given, is_known=lambda name: name in known)]


def _note_content(given: dict[str, Any]) -> Any:
    content = read_content(given["answer"])
    return content and [list(content.keywords), list(content.tags), content.context]


def _note_evolution(given: dict[str, Any]) -> Any:
    keywords, tags, context = given["before"]
    update = read_evolution(given["answer"], Content(tuple(keywords), tuple(tags), context))
    return update and [*map(list, update[0][:2]), update[0].context, update[1]]


def _links(given: dict[str, Any]) -> list[list[Any]]:
    return [[one.place, one.kind.value, one.confidence] for one in read_links(**given)]


def _proves(given: dict[str, Any]) -> bool:
    return proves(Statement(*given.pop("statement")), **given)


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "entity_id": lambda given: entity_id(**given),
    "read_triples": lambda given: [list(one) for one in read_triples(**given)],
    "ended_by": _ended_by,
    "is_name": lambda given: is_name(**given),
    "same_name": _same_name,
    "name_cap": lambda given: cap_of(**given),
    "names": _names,
    "name_rarity": _rarity,
    "entity_weight": lambda given: entity_weight(**given),
    "note_content": _note_content,
    "note_evolution": _note_evolution,
    "note_links": _links,
    "proves": _proves,
}
