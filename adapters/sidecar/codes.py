"""
Bit codes of vectors, one bit per dimension, and their Hamming distance.

A bit tells on which side of the centre of its segment a number lies. Without the centre, a model whose
vectors all point in a similar direction has nearly equal codes: measured with an average cosine of 0.7, the
ten nearest vectors were among the nearest 4000 codes in 87 of 100 cases, and with the centre in more than 99.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Words = NDArray[np.uint64]

_1, _2, _4, _56 = (np.uint64(places) for places in (1, 2, 4, 56))
_EVERY_2ND = np.uint64(0x5555_5555_5555_5555)
_EVERY_2_OF_4 = np.uint64(0x3333_3333_3333_3333)
_EVERY_4_OF_8 = np.uint64(0x0F0F_0F0F_0F0F_0F0F)
_ONE_A_BYTE = np.uint64(0x0101_0101_0101_0101)

_WORD = 64
_ROWS_AT_ONCE = 1 << 16  # rows per step, so that their words stay in the CPU cache


def words_of(dimensions: int) -> int:
    """Return the number of 64-bit words in the code of one vector."""
    return -(-dimensions // _WORD)


def encode(vectors: Floats, centre: Floats) -> Words:
    """Return the codes of *vectors* (n, dim): (words, n) uint64, so that one word of all rows is contiguous."""
    signs = np.zeros((len(vectors), words_of(vectors.shape[1]) * _WORD), dtype=bool)
    np.greater(vectors, centre, out=signs[:, : vectors.shape[1]])
    return np.ascontiguousarray(np.packbits(signs, axis=1).view("<u8").T)


def differing_bits(codes: Words, code: Words) -> NDArray[np.uint16]:
    """Return the Hamming distance of each of *codes* (words, n) to *code* (words, 1): (n,)."""
    found = np.zeros(codes.shape[1], dtype=np.uint16)
    for first in range(0, len(found), _ROWS_AT_ONCE):
        part = slice(first, first + _ROWS_AT_ONCE)
        for word, mine in zip(codes, code[:, 0], strict=True):
            found[part] += _bit_count(word[part] ^ mine)
    return found


def counted_in_parallel(words: Words) -> NDArray[np.uint8]:
    """Return the number of set bits in each word by adding fields of doubling width, for numpy before 2.0."""
    words = words - ((words >> _1) & _EVERY_2ND)
    words = (words & _EVERY_2_OF_4) + ((words >> _2) & _EVERY_2_OF_4)
    words = (words + (words >> _4)) & _EVERY_4_OF_8
    return ((words * _ONE_A_BYTE) >> _56).astype(np.uint8)  # the product sums all bytes in the highest byte


_bit_count = getattr(np, "bitwise_count", counted_in_parallel)
