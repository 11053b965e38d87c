"""Relations between notes and the notes that have superseded them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeVar

Key = TypeVar("Key", int, str)
_DAY = len("2026-03-31")


def successors(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """Return all items that have superseded an item, over any number of steps, without those in a cycle with it."""
    direct: dict[Key, set[Key]] = defaultdict(set)
    for older, newer in pairs:
        direct[older].add(newer)
    reached = {older: _reached(older, direct) for older in direct}
    return {
        older: {newer for newer in found if older not in reached.get(newer, ())}
        for older, found in reached.items()
    }


def circles(pairs: Iterable[tuple[Key, Key]]) -> set[frozenset[Key]]:
    """Return the groups of items that supersede each other, directly or over any number of steps."""
    direct: dict[Key, set[Key]] = defaultdict(set)
    for older, newer in pairs:
        direct[older].add(newer)
    reached = {older: _reached(older, direct) for older in direct}
    return {
        frozenset(newer for newer in found if older in reached.get(newer, ()))
        for older, found in reached.items()
        if older in found
    }


def last_successors(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """Return for each superseded item those of its successors that are not superseded themselves."""
    newer = successors(pairs)
    return {
        older: {one for one in found if not newer.get(one, set()) & found}
        for older, found in newer.items()
        if found
    }


def successor_label(path: str, written: str) -> str:
    """Return the label of a superseded note, on one line; *written* is an ISO 8601 time."""
    return f"superseded by {' '.join(path.splitlines())} ({written[:_DAY]})"


def _reached(start: Key, direct: Mapping[Key, set[Key]]) -> set[Key]:
    found: set[Key] = set()
    waiting = [start]
    while waiting:
        new = direct.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
