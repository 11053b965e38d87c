"""
The distinct words of a table, each in a row of its own, so that a prefix is looked up without reading
entries.

A word stays in the list when the last entry with it is deleted; callers count the current entries of the
word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any

from clawmem.adapters.lancedb.translation import MARKER, Row
from clawmem.ports.errors import BackendUnavailable
from clawmem.ports.folding import surfaces
from clawmem.ports.lexical_index import TITLE_WEIGHT

COLUMN = "word"
GRAIN = "word"  # granularity of these rows, which are no entries


def unlisted(table: Any, texts: Iterable[str]) -> list[Row]:
    """Return rows for the words of *texts* (as formatted by `words.written`) that *table* does not list yet."""
    words = {word for text in texts for word in text.split()} - {BOUNDARY}
    wanted = {_key(word): word for word in words}
    for key in wanted.keys() & _listed(table):
        del wanted[key]
    return [{"key": key, "grain": GRAIN, COLUMN: word} for key, word in sorted(wanted.items())]


def beginning_with(table: Any, beginning: str, most: int) -> Sequence[str]:
    """Return up to *most* words that start with *beginning*, in alphabetical order."""
    query = table.search().where(f"{COLUMN} like '{beginning}%'").select([COLUMN])
    found: list[str] = query.limit(table.count_rows() + 1).to_arrow()[COLUMN].to_pylist()
    return sorted(found)[:most]


def _listed(table: Any) -> set[int]:
    query = table.search().where(f"key < {MARKER}").select(["key"])
    return set(query.limit(table.count_rows() + 1).to_arrow()["key"].to_pylist())


def _key(word: str) -> int:
    """Return a number below the keys of entries and marker, which is the same for a word in every process."""
    return MARKER - 1 - (int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) >> 2)


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
