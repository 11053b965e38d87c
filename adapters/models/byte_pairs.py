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
LONGEST_WORD = 60  # the library is faster with longer ones, though it has to be loaded

# Of whose vocabulary the merges are known; with any other file everything is left to the library.
KNOWN = "wordllama:l2_supercat:256:6f8f9cf87467"

_WORD = re.compile(f"({BLANK}*)({BLANK}[^{BLANK}]*)")  # a word with one blank, behind all others

_BITS = 20  # that hold any id
_NEVER = 1 << 4 * _BITS  # the rank of a pair that does not merge


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
        ranks = [self._rank(*pair) for pair in pairwise(pieces)]
        while (first := min(ranks, default=_NEVER)) < _NEVER:
            n = ranks.index(first)
            pieces[n : n + 2] = [pieces[n] + pieces[n + 1]]
            near = slice(max(n - 1, 0), n + 2)  # the pairs that the new piece is part of are ranked anew
            ranks[near] = [self._rank(*pair) for pair in pairwise(pieces[near])]
        return pieces

    def _smallest(self, word: str) -> Iterator[str]:
        """Characters, and the bytes of those that are no piece."""
        for character in word:
            if character in self._ids:
                yield character
            else:
                yield from (f"<0x{byte:02X}>" for byte in character.encode())

    def _rank(self, left: str, right: str) -> int:
        """Smaller for what merges earlier; one number, since they are compared more often than anything else."""
        ids = self._ids
        whole = ids.get(left + right)
        if whole is None:
            return _NEVER
        blanks = left[-1] == right[-1] == BLANK
        return ((blanks << _BITS | whole) << _BITS | ids[left]) << _BITS | ids[right]


def is_plain(word: str) -> bool:
    """Whether *word* is one that `BytePairs` should cut."""
    return len(word) <= LONGEST_WORD and not any(mark in word for mark in MARKS)


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
