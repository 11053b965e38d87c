"""Tokenization for LanceDB: text is folded and stemmed in the same way as by the vault's own index."""

from __future__ import annotations

from functools import cache
from typing import Any

from clawmem.ports.errors import BackendUnavailable
from clawmem.ports.folding import surfaces
from clawmem.ports.lexical_index import TITLE_WEIGHT

# A letter that occurs in a single manuscript. It is removed from texts, so it only separates the parts of an
# entry.
BOUNDARY = "ꙮ"

_SHORTEST = 3  # minimum length of a word that is stemmed


def written(title: str, text: str) -> str:
    """
    Return the indexed text of an entry: its title, repeated by its weight, and its text, separated by
    boundaries.

    There is a space before and after each word, so that filters can match whole words and prefixes.
    """
    parts = [*([stems(title)] * TITLE_WEIGHT if title else []), stems(text)]
    return f" {f' {BOUNDARY} '.join(' '.join(part) for part in parts)} "


def stems(text: str) -> list[str]:
    """Return the words of *text* in order, folded and stemmed."""
    # The vault's index also uses Porter's first algorithm, which leaves short words unchanged.
    return [word if len(word) < _SHORTEST else _stem(word) for word in surfaces(text.replace(BOUNDARY, " "))]


@cache
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    try:
        from snowballstemmer import stemmer
    except ModuleNotFoundError as error:
        raise BackendUnavailable("lancedb", extra="lancedb") from error
    return stemmer("porter")
