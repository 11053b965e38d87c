"""
Late interaction: how well a text covers the words of a question.

Each word of the question is matched with the most similar word of the text (the MaxSim of ColBERT, Khattab & Zaharia
2020), so that a synonym counts almost as much as the word itself.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from operator import mul
from types import MappingProxyType

from clawmem.domain.documents.markdown import column_names, header_at
from clawmem.ports.records import FragmentKey

# Shares of the neighbours' similarity that count for a line: "it" in one line is often named in the line before.
NEIGHBOUR_SHARES = (1.0, 0.8, 0.5)
REACH = len(NEIGHBOUR_SHARES) - 1  # lines before and after

Row = Sequence[float]

READ = 2000  # characters of a line that are compared; the rest rarely matters and costs as much to compare


def with_columns(body: str, start: int, end: int) -> str:
    """Return up to `READ` characters from *start* to *end* of *body*, after the column names if they are a table row."""
    text = body[start:end]
    header = header_at(body, start) if "|" in text and "\n" not in text else None
    return (f"{column_names(header[0])}\n{text}" if header else text)[:READ]


def line_coverage(
    keys: Collection[FragmentKey],
    rows: Mapping[FragmentKey, Row],
    weights: Row,
    shares: Row = NEIGHBOUR_SHARES,
    names: Mapping[int, Row] = MappingProxyType({}),
) -> dict[FragmentKey, float]:
    """
    Return the coverage of each line of *keys*: for each word of the question the maximum of the line, its neighbours
    and names.

    Neighbours *d* lines away are multiplied by ``shares[d]``.

    Args:
        rows: Similarity of each line to each word, for *keys* and their existing neighbours.
        weights: Weights of the question's words.
        names: By document, the contribution of its names to each word; see `name_contributions`.
    """
    covered = {}
    for key in keys:
        lent = [names.get(key.document_id) or [0.0] * len(weights)]
        for step in range(1 - len(shares), len(shares)):
            if row := rows.get(FragmentKey(key.document_id, key.seq + step)):
                lent.append([shares[abs(step)] * near for near in row])
        covered[key] = math.fsum(map(mul, weights, map(max, zip(*lent, strict=True))))
    return covered


def name_contributions(
    question: Sequence[str], names: Mapping[int, Collection[str]]
) -> dict[int, list[float]]:
    """
    Return by document the contribution of its *names* to each word of *question* that they contain, in [0, 1].

    A note about a person seldom repeats the person's name. The contribution of a word decreases with the number of
    documents whose names contain it; a word in all of them contributes nothing.
    """
    counts = Counter(word for some in names.values() for word in frozenset(question).intersection(some))
    others = max(1, len(names) - 1)
    lent = {word: 1 - (count - 1) / others for word, count in counts.items()}
    rows = {
        number: [lent[word] if word in some else 0.0 for word in question] for number, some in names.items()
    }
    return {number: row for number, row in rows.items() if any(row)}
