"""What a conversation says of things as subject, predicate and object, and what of it ends what was said before."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.ports.digests import sha256
from clawmem.ports.named_tuple import NamedTuple

MIGRATED_TO, REPLACED = "migrated_to", "replaced"
PREDICATES = (
    "adopted",
    MIGRATED_TO,
    "deployed_to",
    "runs_on",
    REPLACED,
    "depends_on",
    "integrates_with",
    "uses",
    "prefers",
    "avoids",
    "caused_by",
    "resolved_by",
    "owned_by",
)
LITERAL = frozenset({"prefers", "avoids"})  # whose object is a text of its own, not the name of something
SAID_OF = frozenset({"decision", "preference", "milestone", "problem", "discovery", "feature"})
SETTLED = frozenset({"decision", "preference"})
SURE, LESS_SURE = 0.9, 0.7
_ID_DIGITS = 16

# What cannot be so any more of who has migrated elsewhere, and of who has something else in the place of it.
_LEFT = frozenset({MIGRATED_TO, "runs_on", "deployed_to"})
_GIVEN_UP = _LEFT | {"uses", "adopted", "depends_on", "integrates_with"}


class Statement(NamedTuple):
    """One thing that is said: of the *subject*, by one of `PREDICATES`, the *object*."""

    subject: str
    predicate: str
    object: str

    @property
    def id(self) -> str:
        """
        Sixteen hex digits by which it is told from any other: whoever says it, and whenever it holds.

        The first of the SHA-256 of its three parts in UTF-8, a NUL between any two.
        """
        said = "\0".join(self).encode("utf-8", "surrogatepass")
        return sha256(said).hexdigest()[:_ID_DIGITS]


def confidence_of(kind: str) -> float:
    """How far what an observation of that kind says of things is relied on."""
    return SURE if kind in SETTLED else LESS_SURE


def ends(new: Collection[Statement], held: Statement) -> bool:
    """
    Whether *held* cannot hold any more because of what one document says *new*; parts are ids or texts.

    Only what is explicit ends anything: who has ``migrated_to`` one place is at no other, and what was
    ``replaced`` is given up by its replacement, and by those of whom the same document says that they now have
    the replacement. Using one more thing ends nothing.
    """
    return held not in new and any(_is_over(held, one, new) for one in new)


def _is_over(held: Statement, one: Statement, new: Collection[Statement]) -> bool:
    if one.predicate == MIGRATED_TO:
        return held.subject == one.subject and held.predicate in _LEFT and held.object != one.object
    if one.predicate == REPLACED and held.object == one.object and held.predicate in _GIVEN_UP:
        have_it = {
            other.subject for other in new if other.object == one.subject and other.predicate in _GIVEN_UP
        }
        return held.subject in {one.subject, *have_it}
    return False
