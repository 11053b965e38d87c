"""Port for the words of an index, from which misspelt words of a question are corrected. An index need not offer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from clawmem.ports.records import Term


class UnknownWord(NamedTuple):
    """
    A word that no entry contains.

    ``stem`` is the form in which the index would store it. ``alike`` maps the stored words with the same first letter
    to the number of documents that contain them.
    """

    stem: str
    alike: Mapping[str, int]


@runtime_checkable
class SpellingIndex(Protocol):
    """Lexical index that can list its words."""

    def unknown_words(self, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
        """Return the terms that no document contains, by their text; an empty mapping if all are known."""


def unknown_words(index: object, terms: Sequence[Term]) -> Mapping[str, UnknownWord]:
    """Return the unknown words among *terms*; none if *index* cannot list its words."""
    return index.unknown_words(terms) if terms and isinstance(index, SpellingIndex) else {}
