"""LRU cache for results that a process derives from a vault."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
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
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = make()
        with self._lock:
            self._put(key, made)
        return made

    def _put(self, key: Hashable, made: Made) -> None:
        if key in self._made:
            self._together -= self._size(self._made.pop(key))
        self._made[key] = made
        self._together += self._size(made)
        while self._together > self._most:
            _, oldest = self._made.popitem(last=False)
            self._together -= self._size(oldest)
