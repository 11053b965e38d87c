"""Where the C library takes memory from; only glibc, of Linux, has to be told anything."""

from __future__ import annotations

import sys
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of <malloc.h>
_MOST_FREE = 4 << 20  # bytes at the end of the heap; what a question takes and gives back is less
_OWN_MAPPING = 4 << 20  # bytes, from which a piece does not come from the heap at all


def keep_heap_small() -> None:
    """
    Let threads that begin from now on take memory from one heap, and give back what lies free at its end.

    By itself glibc gives each thread a heap of its own, up to eight a core, and what a thread gives back no other
    can take: after some hundred questions the threads of a server held 45 MB that nobody used. And it learns from
    large pieces to keep more: 12 MB at the end of the heap.
    """
    _tell("mallopt", _ARENA_MAX, 1)
    _tell("mallopt", _MMAP_THRESHOLD, _OWN_MAPPING)
    _tell("mallopt", _TRIM_THRESHOLD, _MOST_FREE)


def give_back_memory() -> None:
    """Let the system have the pages of the heap that nothing lies on; glibc gives back only those at its end."""
    _tell("malloc_trim", 0)


def _tell(function: str, *numbers: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(AttributeError, OSError):  # another C library
        getattr(ctypes.CDLL(None), function)(*numbers)
