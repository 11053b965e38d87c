"""LRU cache for results that a process derives from a vault."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

Made = TypeVar("Made")


class LruCache(Generic[Made]):
    """
    LRU cache bounded by the total size of its values.

    A key must identify everything that the value depends on, because entries are never invalidated. The cache
    is thread-safe; two threads that miss the same key at the same time both compute the value.

    Args:
        most: Maximum total size.
        size: Returns the size of one value, in the unit of *most*.
    """

    def __init__(self, most: int, size: Callable[[Made], int] = lambda made: 1) -> None:
        self._most = most
        self._size = size
        self._together = 0
        self._made: OrderedDict[Hashable, Made] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the value cached under *key*; on a miss, call *make* and cache its result."""
        return self.get_all([key], lambda missing: [make()])[0]

    def get_all(self, keys: Sequence[Hashable], make: Callable[[list[int]], Sequence[Made]]) -> list[Made]:
        """
        Return the values cached under *keys*, in their order; on a miss, call *make* once and cache its results.

        Args:
            make: Returns the values of the missing keys, which are given by their places in *keys*.
        """
        found: dict[int, Made] = {}
        with self._lock:
            for place, key in enumerate(keys):
                if key in self._made:
                    self._made.move_to_end(key)
                    found[place] = self._made[key]
        if missing := [place for place in range(len(keys)) if place not in found]:
            found.update(zip(missing, make(missing), strict=True))
            with self._lock:
                for place in missing:
                    self._put(keys[place], found[place])
        return [found[place] for place in range(len(keys))]

    def _put(self, key: Hashable, made: Made) -> None:
        if key in self._made:
            self._together -= self._size(self._made.pop(key))
        self._made[key] = made
        self._together += self._size(made)
        while self._together > self._most:
            _, oldest = self._made.popitem(last=False)
            self._together -= self._size(oldest)
