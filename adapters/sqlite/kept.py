"""What a process keeps of its answers from the vault, up to so much."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """
    What was made, by what it was made for; the longest unused goes when all together are larger than *most*.

    A key must say everything that the value depends on, for nothing is ever taken back. Threads share it; two that
    want the same at the same time both make it.

    Args:
        size: Of one value, in the unit of *most*.
    """

    def __init__(self, most: int, size: Callable[[Made], int] = lambda made: 1) -> None:
        self._most = most
        self._size = size
        self._together = 0
        self._made: OrderedDict[Hashable, Made] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What is kept under *key*, made when nothing is."""
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
