"""What people, projects and things are called, so that the same name means the same entity wherever it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from clawmem.domain.documents.tokens import words
from clawmem.domain.security.patterns import Pattern

VAULT = "default"  # how the ids of a vault's entities begin
CONCEPT = "concept"
KINDS = ("person", "project", "service", "tool", CONCEPT, "org", "location")

Entity = TypeVar("Entity")

# Letters and digits alone would make one thing of C++ and C#.
_SIGNS = {"++": " plus plus ", "#": " sharp "}
_SIGN = Pattern(r"(?<=[^\W_])(?:\+\+|#)(?![^\W_])", "++|#")


def name_words(text: str) -> list[str]:
    """The words of a name, or of a text that holds names; in the name of ``C++`` its signs are words."""
    if _SIGN.may_match(text):
        text = _SIGN.compiled.sub(lambda sign: _SIGNS[sign[0]], text)
    return words(text)


def entity_id(name: str, kind: str) -> str:
    """
    ``default:<kind>:<slug>``, where the slug is the words of *name* in lower case, joined by ``_``.

    Raises:
        ValueError: *name* has no words, or there is no such kind.
    """
    if kind not in KINDS or not (slug := _slug(name)):
        raise ValueError(f"{name!r} can be the name of no {kind!r}")
    return f"{VAULT}:{kind}:{slug}"


def ids_of(name: str) -> tuple[str, ...]:
    """Every id that something of that name can have, one for each kind; none for a name without words."""
    slug = _slug(name)
    return tuple(f"{VAULT}:{kind}:{slug}" for kind in KINDS) if slug else ()


def only_one(name: str, known: Mapping[str, Entity]) -> Entity | None:
    """
    Return the entity of that name among those *known*, by id; ``None`` where none has it, or one of each of two kinds.

    A concept is what nothing more is known of: beside an entity of a specific kind it does not count.
    """
    having = [one for one in ids_of(name) if one in known]
    specific = [one for one in having if not is_generic(one)]
    found = specific or having
    return known[found[0]] if len(found) == 1 else None


def is_generic(entity: str) -> bool:
    """Whether an id or a kind is that of a concept, which every specific kind takes the place of."""
    return entity == CONCEPT or entity.startswith(f"{VAULT}:{CONCEPT}:")


def _slug(name: str) -> str:
    return "_".join(name_words(name))
