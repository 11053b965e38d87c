"""Entities as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from clawmem.ports.entities import Entity


class Thing(TypedDict):
    """Somebody or something that documents speak of; ``mention_count`` says how many do."""

    id: str
    name: str
    kind: str
    mention_count: int


def thing_of(entity: Entity) -> Thing:
    """An entity."""
    return {
        "id": entity.id,
        "name": entity.name,
        "kind": entity.kind,
        "mention_count": entity.mention_count,
    }
