"""Triples of subject, predicate and object: how one ends another, and the reading of those that models write."""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import sha256
from typing import NamedTuple

from clawmem.domain.knowledge.entities import name_words
from clawmem.domain.knowledge.llm_answer import TEXT, is_placeholder
from clawmem.domain.security.escaping import unescape
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.ports.models import JsonSchema

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
        return sha256(text).hexdigest()[:16]


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


MOST = 5  # triples of one observation
SHORTEST = 2
# Of items without a type, so that a triple in another form costs no second request.
TRIPLES: JsonSchema = {"items": {"properties": dict.fromkeys(Statement._fields, TEXT)}}


def read_triples(answer: object) -> list[Statement]:
    """
    Return the triples that a model wrote: at most five, each once. Never raises.

    Accepted are objects with the members ``subject``, ``predicate`` and ``object``, and lists of these three. A triple is
    dropped if its predicate is unknown or a part is a placeholder, too short, too long or only stop words.
    """
    statements: dict[Statement, None] = {}
    for entry in answer if isinstance(answer, list) else ():
        parts = [entry.get(name) for name in Statement._fields] if isinstance(entry, dict) else entry
        if isinstance(parts, list) and [type(part) for part in parts] == [str, str, str]:
            statement = _statement(*parts)
            if statement is not None:
                statements[statement] = None
    return [*statements][:MOST]


def _statement(subject: str, predicate: str, object_: str) -> Statement | None:
    statement = Statement(_flat(subject), re.sub(r"[\s-]+", "_", _flat(predicate).lower()), _flat(object_))
    names = [statement.subject, *([] if statement.predicate in LITERAL else [statement.object])]
    if (
        statement.predicate in PREDICATES
        and SHORTEST <= len(statement.subject) <= 80
        and SHORTEST <= len(statement.object) <= 120
        and not any(map(is_placeholder, (statement.subject, statement.object)))
        and all(set(name_words(name)) - STOP_WORDS for name in names)  # "it" is no name
    ):
        return statement
    return None


def _flat(text: str) -> str:
    return " ".join(unescape(text).split()).strip("\"'`")
