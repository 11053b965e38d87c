"""Relations between notes and the notes that have superseded them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key", int, str)
_DAY = len("2026-03-31")


def successors(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """Return all items that have superseded an item, over any number of steps, without those in a cycle with it."""
    direct: dict[Key, set[Key]] = defaultdict(set)
    for older, newer in pairs:
        direct[older].add(newer)
    reached: dict[Key, set[Key]] = {}
    for older in direct:
        items, waiting = reached.setdefault(older, set()), [older]
        while waiting:
            new = direct.get(waiting.pop(), set()) - items
            items |= new
            waiting += new
    return {
        older: {newer for newer in items if older not in reached.get(newer, ())}
        for older, items in reached.items()
    }


def last_successors(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """Return for each superseded item those of its successors that are not superseded themselves."""
    newer = successors(pairs)
    return {
        older: {item for item in items if not newer.get(item, set()) & items}
        for older, items in newer.items()
        if items
    }


def successor_label(path: str, written: str) -> str:
    """Return the label of a superseded note, on one line; *written* is an ISO 8601 time."""
    return f"superseded by {' '.join(path.splitlines())} ({written[:_DAY]})"
