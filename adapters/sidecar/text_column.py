from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Texts = NDArray[np.bytes_]
    Ranks = NDArray[np.int32]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TextColumn:
    """
    Dictionary-encoded column of texts: the distinct values in order, as UTF-8, and the index of each row's
    value.

    Rows are compared by index, and a range of texts is a range of indexes.
    """

    values: Texts  # (m,) ascending
    ranks: Ranks  # (n,)

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextColumn:
        """Encode one text per row."""
        values, ranks = np.unique(np.array([text.encode() for text in texts]), return_inverse=True)
        return cls(values, ranks.astype(np.int32).ravel())

    @classmethod
    def joined(cls, parts: Sequence[TextColumn]) -> TextColumn:
        """Concatenate the rows of all *parts*."""
        values = np.unique(np.concatenate([part.values for part in parts]))
        ranks = [np.searchsorted(values, part.values).astype(np.int32)[part.ranks] for part in parts]
        return cls(values, np.concatenate(ranks))

    def __getitem__(self, rows: NDArray[np.int64] | Mask) -> TextColumn:
        """Return some of the rows."""
        return TextColumn(self.values, self.ranks[rows])

    def one_of(self, texts: Iterable[str]) -> Mask:
        """Return a mask of the rows that have one of *texts*: (n,)."""
        wanted = np.isin(self.values, np.array([text.encode() for text in texts]))
        return np.asarray(wanted[self.ranks])

    def between(self, first: str | None, end: str | None) -> Mask:
        """
        Return a mask of the rows with a text from *first*, inclusive, to *end*, exclusive; None is no bound:
        (n,).
        """
        lowest = 0 if first is None else self._rank(first)
        highest = len(self.values) if end is None else self._rank(end)
        return np.asarray((self.ranks >= lowest) & (self.ranks < highest))

    def _rank(self, text: str) -> int:
        """Return the number of distinct texts before *text*."""
        return int(np.searchsorted(self.values, np.bytes_(text.encode())))
