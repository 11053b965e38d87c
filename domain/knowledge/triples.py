"""Statements as triples of subject, predicate and object, and the rules by which one ends another."""

from collections.abc import Collection
from hashlib import sha256
from typing import NamedTuple

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
LITERAL = frozenset({"prefers", "avoids"})  # predicates whose object is free text, not a name
SAID_OF = frozenset({"decision", "preference", "milestone", "problem", "discovery", "feature"})
SETTLED = frozenset({"decision", "preference"})
SURE, LESS_SURE = 0.9, 0.7
_ID_DIGITS = 16

# Predicates that end when the subject migrates (_LEFT), and when the object is replaced (_GIVEN_UP).
_LEFT = frozenset({MIGRATED_TO, "runs_on", "deployed_to"})
_GIVEN_UP = _LEFT | {"uses", "adopted", "depends_on", "integrates_with"}


class Statement(NamedTuple):
    """A statement about the *subject*: one of `PREDICATES`, and the *object*."""

    subject: str
    predicate: str
    object: str

    @property
    def id(self) -> str:
        """
        Id of the statement, independent of its source and time: sixteen hex digits.

        They are the first of the SHA-256 of its three parts in UTF-8, separated by NUL.
        """
        text = "\0".join(self).encode("utf-8", "surrogatepass")
        return sha256(text).hexdigest()[:_ID_DIGITS]


def confidence_of(kind: str) -> float:
    """Return the confidence in statements from an observation of that kind."""
    return SURE if kind in SETTLED else LESS_SURE


def ends_statement(new: Collection[Statement], old: Statement) -> bool:
    """
    Whether the statements *new* of one document end the statement *held*; parts are ids or texts.

    Only explicit statements end others. A subject that ``migrated_to`` one place is in no other. Something that was
    ``replaced`` is no longer used by its replacement, nor by subjects that use the replacement according to the same
    document. Using one more thing ends nothing.
    """
    return old not in new and any(_is_over(old, statement, new) for statement in new)


def _is_over(old: Statement, statement: Statement, new: Collection[Statement]) -> bool:
    if statement.predicate == MIGRATED_TO:
        return old.subject == statement.subject and old.predicate in _LEFT and old.object != statement.object
    if statement.predicate == REPLACED and old.object == statement.object and old.predicate in _GIVEN_UP:
        have_it = {
            other.subject
            for other in new
            if other.object == statement.subject and other.predicate in _GIVEN_UP
        }
        return old.subject in {statement.subject, *have_it}
    return False
