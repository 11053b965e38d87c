"""Checks of a model's facts against the sentences that it quotes."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import commonprefix

from clawmem.domain.knowledge.entities import name_words, names_in
from clawmem.domain.knowledge.triples import LITERAL, Statement
from clawmem.domain.text.vocabulary import STOP_WORDS

LEAST_STEM = 3  # letters of the common prefix of two forms of a word
LEAST_VERB = 4  # the same for verb endings, which names may also have by chance
_PLURALS = ({"", "s"}, {"", "es"}, {"y", "ies"})
_VERBS = [set(pair.split("/")) for pair in "/n /en /d /ed /ing e/ing es/ing ed/ing y/ied".split()]
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
    is_user = by_user and name_words(statement.subject) == [
        "user"
    ]  # the name that models use for the speaker of "I"
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
    endings = {word[stem:], other[stem:]}
    if not (word + other).isalpha() or stem < LEAST_STEM:
        return False
    return endings in _PLURALS or (stem >= LEAST_VERB and endings in _VERBS)


def _content(text: str) -> list[str]:
    """Return the words of *text* without stop words; all words if there are only stop words."""
    words = name_words(text)
    return [word for word in words if word not in STOP_WORDS] or words
