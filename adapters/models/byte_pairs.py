"""
Byte-pair encoding of short texts for the static vectors, in pure Python, because loading the library takes
longer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

BLANK = "▁"
MARKS = ("<unk>", "<s>", "</s>")  # special tokens, which are recognized anywhere in a text
LONGEST_WORD = 60  # characters; for longer words the library is faster even though it must be loaded

# Fingerprint of the vocabulary whose merges are known; any other file is left to the library.
KNOWN = "wordllama:l2_supercat:256:6f8f9cf87467"

_WORD = re.compile(f"({BLANK}*)({BLANK}[^{BLANK}]*)")  # a word with one blank, after any further blanks

_BITS = 20  # enough for any token id
_NEVER = 1 << 4 * _BITS  # rank of a pair that does not merge


class BytePairs:
    """
    Byte-pair encoding whose merges follow from its vocabulary.

    Any two pieces that form a third piece merge, ordered by the ids of the whole, the left and the right
    piece; runs of blanks come last. No piece has a blank after another character, so words are encoded one by
    one.

    Args:
        ids: Ids of all pieces.
    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids

    def encode(self, text: str) -> list[int]:
        """
        Return the token ids of *text*, which must contain none of `MARKS`; quadratic in the length of the
        longest word.
        """
        spaced = f"{BLANK}{text.replace(' ', BLANK)}" if text else ""
        return [self._ids[piece] for found in _WORD.findall(spaced) for piece in self._pieces(*found)]

    def _pieces(self, blanks: str, word: str) -> list[str]:
        # a word that is a piece merges into this piece before the blanks merge
        if word in self._ids and word != BLANK:
            return [*self._merged(blanks), word]
        return self._merged(blanks + word)

    def _merged(self, text: str) -> list[str]:
        pieces = list(self._smallest(text))
        ranks = [self._rank(*pair) for pair in pairwise(pieces)]
        while (first := min(ranks, default=_NEVER)) < _NEVER:
            n = ranks.index(first)
            pieces[n : n + 2] = [pieces[n] + pieces[n + 1]]
            near = slice(max(n - 1, 0), n + 2)  # recompute the ranks of the pairs that contain the new piece
            ranks[near] = [self._rank(*pair) for pair in pairwise(pieces[near])]
        return pieces

    def _smallest(self, word: str) -> Iterator[str]:
        """Iterate over the characters of *word*; a character that is no piece is split into its bytes."""
        for character in word:
            if character in self._ids:
                yield character
            else:
                yield from (f"<0x{byte:02X}>" for byte in character.encode())

    def _rank(self, left: str, right: str) -> int:
        """
        Return the rank of a pair; lower ranks merge first. A single integer, because ranks are compared most
        often.
        """
        ids = self._ids
        whole = ids.get(left + right)
        if whole is None:
            return _NEVER
        blanks = left[-1] == right[-1] == BLANK
        return ((blanks << _BITS | whole) << _BITS | ids[left]) << _BITS | ids[right]


def is_plain(word: str) -> bool:
    """Whether `BytePairs` can encode *word*: not too long, and without special tokens."""
    return len(word) <= LONGEST_WORD and not any(mark in word for mark in MARKS)


@cache  # there is only one file, and a server reads it once
def read_ids(path: Path) -> dict[str, int]:
    """
    Read the vocabulary from a tokenizer file, parsing only this third of the file.

    Raises:
        ValueError: the file has another layout.
        OSError: the file cannot be read.
    """
    content = path.read_bytes()
    first = content.index(b'"vocab": ') + len(b'"vocab": ')
    last = content.rindex(b"}", first, content.index(b'"merges": [', first))
    ids: dict[str, int] = json.loads(content[first : last + 1])
    return ids
