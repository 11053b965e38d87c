"""
What holds now goes before what it has superseded.

A note and its successors often match a question equally well, the older one sometimes better: it was written
when the question was new. Only the notes themselves know which of them still holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", int, str)
_DAY = len("2026-03-31")


def current_first(
    ranked: Sequence[Key], pairs: Iterable[tuple[Key, Key]], hidden: Collection[Key] = ()
) -> list[Key]:
    """
    *ranked* with every superseded item below all of its successors.

    Items that belong together exchange their places, as little as it takes; all others stand where they
    stood. A successor that is not ranked comes in right above the first item that it has superseded, if
    nothing has superseded it in turn.

    Args:
        ranked: Best first, each once.
        pairs: (older, newer), in any order, over more steps than one. Two that supersede each other, directly
            or in a circle, say nothing of each other.
        hidden: What must not come in. Where the last of a row is hidden, the last one that is not holds.
    """
    newer = successors(pairs)
    listed = list(_with_what_holds(ranked, newer, frozenset(hidden)))
    places = {key: place for place, key in enumerate(listed)}
    arranged = list(listed)
    for family in _families(listed, newer):
        ordered = _newest_first(family, newer)
        for place, key in zip(sorted(places[key] for key in family), ordered, strict=True):
            arranged[place] = key
    return arranged


def successors(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """All that has superseded an item, over any number of steps; nothing that stands in a circle with it."""
    direct: dict[Key, set[Key]] = defaultdict(set)
    for older, newer in pairs:
        direct[older].add(newer)
    reached = {older: _reached(older, direct) for older in direct}
    return {
        older: {newer for newer in found if older not in reached.get(newer, ())}
        for older, found in reached.items()
    }


def last_successors(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """Return for each superseded item those of its successors that nothing has superseded in turn."""
    newer = successors(pairs)
    return {
        older: {one for one in found if not newer.get(one, set()) & found}
        for older, found in newer.items()
        if found
    }


def successor_label(path: str, written: str) -> str:
    """Return the one wording that marks a superseded note, on one line; *written* is an ISO 8601 time."""
    return f"superseded by {' '.join(path.splitlines())} ({written[:_DAY]})"


def _reached(start: Key, direct: Mapping[Key, set[Key]]) -> set[Key]:
    found: set[Key] = set()
    waiting = [start]
    while waiting:
        new = direct.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _with_what_holds(
    ranked: Sequence[Key], newer: Mapping[Key, set[Key]], hidden: frozenset[Key]
) -> Iterator[Key]:
    listed = set(ranked)
    for key in ranked:
        seen = newer.get(key, set()) - hidden
        last = {successor for successor in seen if not newer.get(successor, set()) & seen}
        yield from sorted(last - listed)
        listed |= last
        yield key


def _families(listed: Sequence[Key], newer: Mapping[Key, set[Key]]) -> list[list[Key]]:
    """What hangs together by succession, each family in the order of the list; single items are left out."""
    related: dict[Key, set[Key]] = defaultdict(set)
    known = set(listed)
    for older in listed:
        for successor in newer.get(older, set()) & known:
            related[older].add(successor)
            related[successor].add(older)
    families = {min(family): family for key in related if (family := _reached(key, related))}
    return [[key for key in listed if key in family] for family in families.values()]


def _newest_first(family: Sequence[Key], newer: Mapping[Key, set[Key]]) -> Iterator[Key]:
    """Again and again the first whose successors have all been placed."""
    waiting = list(family)
    while waiting:
        chosen = next(key for key in waiting if newer.get(key, set()).isdisjoint(waiting))
        waiting.remove(chosen)
        yield chosen
