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
class Ranked:
    """
    A text for each row: the distinct ones in order, UTF-8, and which of them each row has.

    Rows are compared by number, and a range of texts is a range of numbers.
    """

    values: Texts  # (m,) ascending
    ranks: Ranks  # (n,)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Ranked:
        """From a text a row."""
        values, ranks = np.unique(np.array([text.encode() for text in texts]), return_inverse=True)
        return cls(values, ranks.astype(np.int32).ravel())

    @classmethod
    def joined(cls, parts: Sequence[Ranked]) -> Ranked:
        """The rows of all *parts*, one part after the other."""
        values = np.unique(np.concatenate([part.values for part in parts]))
        ranks = [np.searchsorted(values, part.values).astype(np.int32)[part.ranks] for part in parts]
        return cls(values, np.concatenate(ranks))

    def __getitem__(self, rows: NDArray[np.int64] | Mask) -> Ranked:
        """Some of the rows."""
        return Ranked(self.values, self.ranks[rows])

    def one_of(self, texts: Iterable[str]) -> Mask:
        """Which rows have one of *texts*: (n,)."""
        wanted = np.isin(self.values, np.array([text.encode() for text in texts]))
        return np.asarray(wanted[self.ranks])

    def between(self, first: str | None, end: str | None) -> Mask:
        """Which rows have a text from *first*, inclusive, to *end*, exclusive; None is no bound: (n,)."""
        lowest = 0 if first is None else self._rank(first)
        highest = len(self.values) if end is None else self._rank(end)
        return np.asarray((self.ranks >= lowest) & (self.ranks < highest))

    def _rank(self, text: str) -> int:
        """How many of the distinct texts come before *text*."""
        return int(np.searchsorted(self.values, np.bytes_(text.encode())))
