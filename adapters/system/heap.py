"""Tuning of the C heap, which only glibc on Linux needs."""

from __future__ import annotations

import sys
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # from <malloc.h>
_MOST_FREE = 4 << 20  # free bytes at the end of the heap that glibc keeps; a query allocates less
_OWN_MAPPING = 4 << 20  # bytes from which an allocation gets its own mapping instead of space on the heap


def keep_heap_small() -> None:
    """
    Make new threads share one heap, and make glibc return free memory at its end to the system.

    By default glibc gives each thread a heap of its own, up to eight per core, and memory freed by one thread
    cannot be used by another: after some hundred queries the threads of a server held 45 MB of unused memory.
    After large allocations glibc also raises the amount that it keeps, to 12 MB at the end of the heap.
    """
    _tell("mallopt", _ARENA_MAX, 1)
    _tell("mallopt", _MMAP_THRESHOLD, _OWN_MAPPING)
    _tell("mallopt", _TRIM_THRESHOLD, _MOST_FREE)


def give_back_memory() -> None:
    """Return unused heap pages to the system; by default glibc returns only those at the end of the heap."""
    _tell("malloc_trim", 0)


def _tell(function: str, *numbers: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(AttributeError, OSError):  # another C library
        getattr(ctypes.CDLL(None), function)(*numbers)
