"""Entity ids derived from names, so that a name means the same entity in every document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from clawmem.domain.text.words import words

VAULT = "default"  # prefix of the entity ids of a vault
CONCEPT = "concept"
KINDS = ("person", "project", "service", "tool", CONCEPT, "org", "location")

Entity = TypeVar("Entity")

# With letters and digits alone, C++ and C# would have the same id.
_SIGNS = {"++": " plus plus ", "#": " sharp "}
_SIGN = re.compile(r"(?<=[^\W_])(?:\+\+|#)(?![^\W_])")


def name_words(text: str) -> list[str]:
    """Return the words of *text*; the signs of names such as ``C++`` are spelled out as words."""
    return words(_SIGN.sub(lambda sign: _SIGNS[sign[0]], text))


def entity_id(name: str, kind: str) -> str:
    """
    Return ``default:<kind>:<slug>``; the slug is the words of *name* in lower case, joined by ``_``.

    Raises:
        ValueError: *name* has no words, or *kind* is unknown.
    """
    if kind not in KINDS or not (slug := _slug(name)):
        raise ValueError(f"{name!r} is not a valid name of kind {kind!r}; kinds: {', '.join(KINDS)}")
    return f"{VAULT}:{kind}:{slug}"


def ids_of(name: str) -> tuple[str, ...]:
    """Return the ids of an entity called *name*, one for each kind; none if the name has no words."""
    slug = _slug(name)
    return tuple(f"{VAULT}:{kind}:{slug}" for kind in KINDS) if slug else ()


def only_one(name: str, known: Mapping[str, Entity]) -> Entity | None:
    """
    Return the entity called *name* among *known* ids; ``None`` if none exists or entities of two kinds do.

    ``concept`` means that the kind is unknown; it does not count if there is an entity of a specific kind.
    """
    known_ids = [entity for entity in ids_of(name) if entity in known]
    specific = [entity for entity in known_ids if not is_generic(entity)]
    candidates = specific or known_ids
    return known[candidates[0]] if len(candidates) == 1 else None


def is_generic(entity: str) -> bool:
    """Whether an id or a kind is that of a concept, which any specific kind replaces."""
    return entity == CONCEPT or entity.startswith(f"{VAULT}:{CONCEPT}:")


def _slug(name: str) -> str:
    return "_".join(name_words(name))
