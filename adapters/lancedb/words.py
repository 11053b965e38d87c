"""How text becomes words here: folded and stemmed before the engine sees it, as the vault's own index does it."""

from __future__ import annotations

from functools import cache
from typing import Any

from clawmem.ports.errors import BackendUnavailable
from clawmem.ports.folding import surfaces
from clawmem.ports.lexical_index import TITLE_WEIGHT

# A letter of one single manuscript. Texts lose it, so that it stands between the parts of an entry and nowhere else.
BOUNDARY = "ꙮ"

_SHORTEST = 3  # letters of a word that has a stem


def written(title: str, text: str) -> str:
    """
    What is indexed of an entry: its title as often as it weighs, then its text, with boundaries between.

    There is a space before and behind each word, so that a filter finds whole words and beginnings.
    """
    parts = [*([stems(title)] * TITLE_WEIGHT if title else []), stems(text)]
    return f" {f' {BOUNDARY} '.join(' '.join(part) for part in parts)} "


def stems(text: str) -> list[str]:
    """The words of *text* in order, folded and stemmed."""
    # Only Porter's first algorithm is also that of the vault; short words it leaves alone.
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
