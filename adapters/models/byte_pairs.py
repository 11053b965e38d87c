"""Byte-pair encoding of words for the static vectors, because loading the library takes a fifth of a cold prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

BLANK = "▁"  # the tokenizer writes a blank so
MARKS = ("<unk>", "<s>", "</s>")  # special tokens, which are recognised anywhere in a text

# Digest of the tokenizer whose merges follow from its vocabulary. Any other one is left to the library.
KNOWN = "7290735f9266"

_BITS = 20  # more than a token id has
_NEVER = 1 << 4 * _BITS  # rank of a pair that does not merge


class BytePairs:
    """
    Encoder of single words with the vocabulary of the `KNOWN` tokenizer.

    Two pieces merge if a third piece is their concatenation. The ids of the whole, the left and the right piece give
    the order of merges; runs of blanks come last. A test compares this rule with the merges in the file, all of them.
    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids

    def encode(self, word: str) -> list[int]:
        """Return the token ids of *word*, which contains no special token; quadratic in its length."""
        ids = self._ids
        word = f"{BLANK}{word.replace(' ', BLANK)}"
        if word in ids:  # a piece with one blank results from its own merges
            return [ids[word]]
        pieces = self._characters(word)
        ranks = [self._rank(*pair) for pair in pairwise(pieces)]
        while (first := min(ranks, default=_NEVER)) < _NEVER:
            at = ranks.index(first)
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
            del ranks[at]
            for changed in range(max(at - 1, 0), min(at + 1, len(ranks))):
                ranks[changed] = self._rank(pieces[changed], pieces[changed + 1])
        return [ids[piece] for piece in pieces]

    def _characters(self, word: str) -> list[str]:
        """Return the characters of *word*; a character that is no piece is split into its bytes."""
        if all(map(self._ids.__contains__, word)):
            return [*word]
        known = ([one] if one in self._ids else [f"<0x{byte:02X}>" for byte in one.encode()] for one in word)
        return [piece for pieces in known for piece in pieces]

    def _rank(self, left: str, right: str) -> int:
        """Return the order of the merge of a pair as one number, because ranks are compared most often."""
        ids = self._ids
        whole = ids.get(left + right)
        if whole is None:
            return _NEVER
        blanks = left[-1] == right[-1] == BLANK
        return ((blanks << _BITS | whole) << _BITS | ids[left]) << _BITS | ids[right]


def vocabulary_in(path: Path) -> dict[str, int]:
    """Return the ids of all pieces, reading only this third of the tokenizer's file."""
    content = path.read_bytes()
    first = content.index(b'"vocab": ') + len(b'"vocab": ')
    last = content.rindex(b"}", first, content.index(b'"merges": [', first))
    ids: dict[str, int] = json.loads(content[first : last + 1])
    return ids
