"""Properties of the notes in a block that the question names, such as ``status: overdue``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from clawmem.domain.text.words import words
from clawmem.ports.documents import TAGS, Property
from clawmem.ports.records import one_line

MOST = 3  # properties of a note
MOST_VALUES = 5  # of a property
SHORT = 40  # characters of a value that is compared with the question; a longer one is a text with many words
LONGEST = 80  # characters of the values that are shown
# The head of an entry has the title and the date; a name or a tag is no answer.
_OMITTED = frozenset({TAGS, "aliases", "title", "date", "created", "modified", "updated"})


def asked_properties(
    by_document: Mapping[int, Sequence[Property]], question: Iterable[str]
) -> Mapping[int, str]:
    """
    Return the properties of each document as ``name: value; name: value``, if *question* names them.

    A property is named if its name, or a short value of it in any of the documents, is in the question. It is shown for
    all documents that have it: ``status: paid`` says that a note does not answer "which invoice is overdue".

    Args:
        question: The words of the question.
    """
    asked = frozenset(map(_singular, question))
    named = {
        one.name.casefold()
        for several in by_document.values()
        for one in several
        if one.name.casefold() not in _OMITTED
        and (_is_in(one.name, asked) or (len(one.value) <= SHORT and _is_in(one.key, asked)))
    }
    lines = {number: _line(several, named) for number, several in by_document.items()} if named else {}
    return {number: line for number, line in lines.items() if line}


def _is_in(text: str, asked: Collection[str]) -> bool:
    """Whether all words of *text* are asked for; a text without words is not."""
    several = words(text)
    return bool(several) and all(_singular(word) in asked for word in several)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _line(several: Iterable[Property], named: Collection[str]) -> str:
    shown: dict[str, list[str]] = {}
    for one in several:
        if one.name.casefold() in named and one.value:
            shown.setdefault(one.name, []).append(one_line(one.value))
    pairs = [(name, ", ".join(values[:MOST_VALUES])) for name, values in shown.items()]
    return "; ".join(f"{name}: {text}" for name, text in pairs[:MOST] if len(text) <= LONGEST)
