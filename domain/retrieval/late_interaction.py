"""
How well a text covers a question, word by word.

Each word of the question is matched with the nearest word of the text (the MaxSim of ColBERT, Khattab &
Zaharia 2020), so that a synonym counts for nearly as much as the word itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from clawmem.ports.records import FragmentKey

# What a line's neighbours may lend it: "it" in one line is named in the line before.
NEIGHBOUR_SHARES = (1.0, 0.8, 0.5)

# What the names of a note lend to each of its lines: the note about a person seldom repeats the person's name.
NAME_SHARE = 1.0

Row = Sequence[float]


def coverage(weights: Row, nearest: Row) -> float:
    """
    The weighted mean of how near the text comes to each word of the question.

    Args:
        weights: Of the question's words, not negative; they sum to 1, so that the result lies in [0, 1].
        nearest: For each word the similarity of the nearest word of the text, in [0, 1].

    Raises:
        ValueError: not as many numbers as weights.
    """
    return math.fsum(weight * near for weight, near in zip(weights, nearest, strict=True))


def covered(
    keys: Collection[FragmentKey],
    rows: Mapping[FragmentKey, Row],
    weights: Row,
    shares: Row = NEIGHBOUR_SHARES,
    names: Mapping[int, Row] = MappingProxyType({}),
) -> dict[FragmentKey, float]:
    """
    The coverage of each line of *keys*, with what the lines around it and the names of its note lend.

    For each word of the question the best counts of the line itself, its neighbours, those *d* lines
    away at ``shares[d]``, and the names. A line without a row of its own gets what the others lend.

    Args:
        rows: How near each line comes to each word; of *keys* and of their neighbours that exist.
        names: What the names of a document lend to each word, by document; see `lent_by_names`.
    """
    width = len(weights)
    return {
        key: coverage(weights, _best(key, rows, width, shares, names.get(key.document_id, ())))
        for key in keys
    }


def lent_by_names(question: Sequence[str], names: Mapping[int, Collection[str]]) -> dict[int, list[float]]:
    """
    Return for each document how much its names lend to each word of *question*, in [0, `NAME_SHARE`].

    A name lends to the words that it holds. A word lends the less, the more of the documents have it in a name:
    what all of them are called tells no two of them apart. Documents that lend nothing are left out.

    Args:
        names: The words of the names of each document, all documents that are compared.
    """
    asked = frozenset(question)
    named = {document: asked.intersection(some) for document, some in names.items()}
    held = Counter(word for some in named.values() for word in some)
    others = max(1, len(names) - 1)
    lent = {word: NAME_SHARE * (1 - (count - 1) / others) for word, count in held.items()}
    rows = {
        document: [lent[word] if word in some else 0.0 for word in question]
        for document, some in named.items()
    }
    return {document: row for document, row in rows.items() if any(row)}


def around(keys: Collection[FragmentKey], shares: Row = NEIGHBOUR_SHARES) -> set[FragmentKey]:
    """*keys* and those of the lines that may lend to them."""
    reach = range(1 - len(shares), len(shares))
    return {FragmentKey(key.document_id, key.seq + step) for key in keys for step in reach}


def _best(
    key: FragmentKey, rows: Mapping[FragmentKey, Row], width: int, shares: Row, named: Row
) -> list[float]:
    document_id, seq = key
    at: Mapping[Any, Row] = rows  # asked by plain pairs, of which several for each line are made
    found = [
        (share, row)
        for step in range(1 - len(shares), len(shares))
        if (share := shares[abs(step)]) and (row := at.get((document_id, seq + step)))
    ]
    lent = [[share * near for near in row] for share, row in found]
    return [max(word) for word in zip(named or [0.0] * width, *lent, strict=True)]
