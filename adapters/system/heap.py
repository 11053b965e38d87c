"""Where the C library takes memory from; only glibc, of Linux, has to be told anything."""

from __future__ import annotations

import sys
from contextlib import suppress

_ARENA_MAX = -8  # M_ARENA_MAX of <malloc.h>


def share_one_heap() -> None:
    """
    Let threads that begin from now on take memory from one heap.

    By itself glibc gives each thread one of its own, up to eight a core, and what a thread gives back no other
    can take: after some hundred questions the threads of a server held 45 MB that nobody used.
    """
    _tell("mallopt", _ARENA_MAX, 1)


def give_back_memory() -> None:
    """Let the system have the pages of the heap that nothing lies on; glibc gives back only those at its end."""
    _tell("malloc_trim", 0)


def _tell(function: str, *numbers: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(AttributeError, OSError):  # another C library
        getattr(ctypes.CDLL(None), function)(*numbers)
