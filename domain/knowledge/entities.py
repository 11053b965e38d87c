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
    """The entity of that name among those *known*, by id; ``None`` where there is none, or one of each of two kinds."""
    found = [known[one] for one in ids_of(name) if one in known]
    return found[0] if len(found) == 1 else None


def _slug(name: str) -> str:
    return "_".join(name_words(name))
