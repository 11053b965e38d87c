"""
Ranking of current notes above the notes they have superseded.

A note and its successors often match a question equally well, the older one sometimes better, because its wording is
closer to the question's. Only the relations between the notes tell which one is current.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from clawmem.domain.documents.title import HEADING
from clawmem.domain.retrieval.requested import QuestionDemands, unmet
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import words

# Burden (see `Shortfall`) by which a newer note must be worse than a passage not to replace it; not fitted.
LEAST_LACK = 0.5
# Difference of the shares of words by which a newer note must be closer to another passage; not fitted.
CLEARLY_MORE = 0.2

_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_NEXT_SENTENCE = re.compile(r"(?<=[.!?])(?:\n|[ \t]+(?=[^\W\d_a-z]))")
Key = TypeVar("Key", int, str)
_DAY = len("2026-03-31")


def current_first(
    ranked: Sequence[Key], pairs: Iterable[tuple[Key, Key]], hidden: Collection[Key] = ()
) -> list[Key]:
    """
    Return *ranked* with every superseded item below all of its successors.

    Related items only exchange places among each other; all others keep their places. A successor that is not in
    *ranked* is inserted directly above the first item that it has superseded, unless it is superseded itself.

    Args:
        ranked: Best first, each once.
        pairs: (older, newer), in any order, also over several steps. Items that supersede each other, directly or in
            a cycle, are not ordered by it.
        hidden: Items that must not be inserted. If the last successor is hidden, the last one that is not hidden
            takes its role.
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


def successor_label(path: str, written: str, *, partly: bool = False) -> str:
    """Return the label of a superseded note, on one line; *written* is an ISO 8601 time."""
    return f"{'partly ' if partly else ''}superseded by {' '.join(path.splitlines())} ({written[:_DAY]})"


def passages_of(body: str) -> list[str]:
    """
    Return the passages of a note whose facts are replaced separately, each with the heading above it.

    A passage is a sentence of a paragraph or of a list item.
    """
    passages: list[str] = []
    heading = block = ""
    for line in [*map(str.strip, body.split("\n")), ""]:
        if block and (not line or HEADING.match(line) or _ITEM.match(line)):
            passages += (f"{heading}\n{one}" if heading else one for one in _NEXT_SENTENCE.split(block))
            block = ""
        if HEADING.match(line):
            heading = line
        elif line:
            block = f"{block}\n{line}" if block else line
    return passages


def is_replaced(asked: QuestionDemands, passages: Sequence[str], newer: str) -> bool:
    """
    Whether a newer note replaces the passage of an older note that answers a question.

    It does not if it lacks what the passage has of the question, and is about another passage: it has clearly more of the
    words of that one, or has distinctive words of that one only.

    Args:
        asked: Demands of the question.
        passages: Passages of the older note, at least one.
        newer: Text of the newer note, with its names.
    """
    rarities = [1.0] * len(asked.words)
    lacks = [unmet(asked, rarities, one, one).burden for one in passages]
    answering = lacks.index(min(lacks))
    if unmet(asked, rarities, newer, newer).burden - lacks[answering] < LEAST_LACK:
        return True
    content = [frozenset(words(one)) - STOP_WORDS for one in passages]
    shared = [one.intersection(words(newer)) for one in content]
    shares = [len(one) / max(1, len(all_words)) for one, all_words in zip(shared, content, strict=True)]
    common = frozenset.intersection(*content)
    if not shared[answering] - common and any(one - common for one in shared):
        return False
    return max(shares) - shares[answering] < CLEARLY_MORE


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
    """Return the groups of items related by succession, each in the order of the list; single items are left out."""
    related: dict[Key, set[Key]] = defaultdict(set)
    known = set(listed)
    for older in listed:
        for successor in newer.get(older, set()) & known:
            related[older].add(successor)
            related[successor].add(older)
    families = {min(family): family for key in related if (family := _reached(key, related))}
    return [[key for key in listed if key in family] for family in families.values()]


def _newest_first(family: Sequence[Key], newer: Mapping[Key, set[Key]]) -> Iterator[Key]:
    """Yield items in topological order: repeatedly the first whose successors have all been yielded."""
    waiting = list(family)
    while waiting:
        chosen = next(key for key in waiting if newer.get(key, set()).isdisjoint(waiting))
        waiting.remove(chosen)
        yield chosen
