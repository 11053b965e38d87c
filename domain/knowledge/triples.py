"""Triples of subject, predicate and object: how one ends another, and the checks of those that models write."""

import re
from collections.abc import Callable, Collection
from hashlib import sha256
from posixpath import commonprefix
from typing import NamedTuple

from clawmem.domain.knowledge.entities import name_words, names_in
from clawmem.domain.knowledge.llm_answer import TEXT, is_placeholder
from clawmem.domain.security.escaping import unescape
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.ports.models import JsonSchema

MIGRATED_TO, REPLACED = "migrated_to", "replaced"
PREDICATES = tuple(
    f"adopted {MIGRATED_TO} deployed_to runs_on {REPLACED} depends_on integrates_with uses prefers avoids caused_by "
    "resolved_by owned_by".split()
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
        return sha256("\0".join(self).encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
    if old in new:
        return False
    for subject, predicate, object_ in new:
        is_elsewhere = old.subject == subject and old.object != object_
        if predicate == MIGRATED_TO and is_elsewhere and old.predicate in _LEFT:
            return True
        if predicate == REPLACED and old.object == object_ and old.predicate in _GIVEN_UP:
            users = {
                other.subject for other in new if other.object == subject and other.predicate in _GIVEN_UP
            }
            if old.subject in {subject, *users}:
                return True
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
        if not isinstance(parts, list) or [type(part) for part in parts] != [str, str, str]:
            continue
        subject, predicate, object_ = (" ".join(unescape(part).split()).strip("\"'`") for part in parts)
        statement = Statement(subject, re.sub(r"[\s-]+", "_", predicate.lower()), object_)
        names = [subject] if statement.predicate in LITERAL else [subject, object_]
        if (
            statement.predicate in PREDICATES
            and SHORTEST <= len(subject) <= 80
            and SHORTEST <= len(object_) <= 120
            and not (is_placeholder(subject) or is_placeholder(object_))
            and all(set(name_words(name)) - STOP_WORDS for name in names)  # "it" is no name
        ):
            statements[statement] = None
    return [*statements][:MOST]


LEAST_STEM = 3  # letters of the common prefix of two forms of a word
_ENDINGS = frozenset(["", *"s es ies y n en e d ed ied ing".split()])
_PRONOUN = re.compile(
    r"^\W*(?:it|they|he|she|we|this|that|i|es|er|sie|wir|ich|das)(?:['’]\w+)?\b", re.IGNORECASE
)


def proves(statement: Statement, quote: str, *, title: str = "", by_user: bool = False) -> bool:
    """
    Whether *quote* names the subject and the object of *statement*.

    Case, articles and word endings are ignored. The words of a name must be adjacent; the words of an object that is
    free text may be anywhere. In a quote that begins with a pronoun, the subject may be named in *title* instead; in
    a quote *by_user* it may also be the user.
    """
    source_words = _content(quote)
    # Models use this name for the speaker of "I".
    is_user = by_user and name_words(statement.subject) == ["user"]
    is_meant = _PRONOUN.search(quote) and _is_named(statement.subject, _content(title))
    if not (is_user or is_meant or _is_named(statement.subject, source_words)):
        return False
    if statement.predicate in LITERAL:
        return all(
            any(_are_forms(word, other) for other in source_words) for word in _content(statement.object)
        )
    return _is_named(statement.object, source_words)


def is_grounded(fact: str, source: str, is_known: Callable[[str], bool] = lambda name: False) -> bool:
    """
    Whether every name and every number in *fact*, which a model wrote, occurs in *source*, which the model has read.

    Args:
        is_known: Whether a capitalised word is a name elsewhere; it then also counts at the start of a sentence.
    """
    source_words = name_words(source)
    numbers = [word for word in name_words(fact) if word.isdigit()]
    names = [word for name in names_in("", fact, is_known=is_known) for word in _content(name.name)]
    return all(any(_are_forms(word, other) for other in source_words) for word in (*numbers, *names))


def _is_named(name: str, source_words: list[str]) -> bool:
    wanted = _content(name)
    runs = (source_words[start : start + len(wanted)] for start in range(len(source_words) - len(wanted) + 1))
    return bool(wanted) and any(all(map(_are_forms, wanted, run)) for run in runs)


def _are_forms(word: str, other: str) -> bool:
    """Whether two words differ only in their ending; words with digits have no endings."""
    if word == other:
        return True
    stem = len(commonprefix((word, other)))
    endings = (word[stem:], other[stem:])
    return stem >= LEAST_STEM and (word + other).isalpha() and _ENDINGS.issuperset(endings)


def _content(text: str) -> list[str]:
    """Return the words of *text* without stop words; all words if there are only stop words."""
    words = name_words(text)
    return [word for word in words if word not in STOP_WORDS] or words
