"""Words cut into the tokens of the static vectors, for few words: the library takes longer to be loaded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

BLANK = "▁"
MARKS = ("<unk>", "<s>", "</s>")  # tokens of their own wherever they stand

_WORD = re.compile(f"({BLANK}*)({BLANK}[^{BLANK}]*)")  # a word with one blank, behind all others

Rank = tuple[bool, int, int, int]


class BytePairs:
    """
    A byte-pair encoding whose merges follow from its vocabulary.

    Any two pieces that make a third merge, in the order of the ids of the three, whole first; runs of blanks
    come last. No piece has a blank behind anything else, so words are cut one by one.

    Args:
        ids: Of all pieces.
    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids

    def encode(self, text: str) -> list[int]:
        """The ids of *text*, which holds none of `MARKS`; takes the square of the longest word."""
        spaced = f"{BLANK}{text.replace(' ', BLANK)}" if text else ""
        return [self._ids[piece] for found in _WORD.findall(spaced) for piece in self._pieces(*found)]

    def _pieces(self, blanks: str, word: str) -> list[str]:
        if word in self._ids and word != BLANK:  # what is a piece merges into itself, before the blanks do
            return [*self._merged(blanks), word]
        return self._merged(blanks + word)

    def _merged(self, text: str) -> list[str]:
        pieces = list(self._smallest(text))
        while ranked := [(rank, n) for n, pair in enumerate(pairwise(pieces)) if (rank := self._rank(*pair))]:
            _, n = min(ranked)
            pieces[n : n + 2] = [pieces[n] + pieces[n + 1]]
        return pieces

    def _smallest(self, word: str) -> Iterator[str]:
        """Characters, and the bytes of those that are no piece."""
        for character in word:
            if character in self._ids:
                yield character
            else:
                yield from (f"<0x{byte:02X}>" for byte in character.encode())

    def _rank(self, left: str, right: str) -> Rank | None:
        whole = self._ids.get(left + right)
        if whole is None:
            return None
        return left[-1] == right[-1] == BLANK, whole, self._ids[left], self._ids[right]


@cache  # of the one file there is: a server reads it once
def read_ids(path: Path) -> dict[str, int]:
    """
    The vocabulary of a tokenizer's file, a third of it.

    Raises:
        ValueError: it is not laid out like that. OSError: it cannot be read.
    """
    content = path.read_bytes()
    first = content.index(b'"vocab": ') + len(b'"vocab": ')
    last = content.rindex(b"}", first, content.index(b'"merges": [', first))
    ids: dict[str, int] = json.loads(content[first : last + 1])
    return ids
