"""Stated preferences, and a reordering that keeps them from being buried below other answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

from clawmem.domain.surfacing.packing import CHARACTERS, Tier

MOST = 3  # preferences near the top; the other places are for answers
TOP = 3  # answers that stay before the promoted preferences
READ = CHARACTERS[Tier.HOT]  # characters of a line; the rest is not shown
ASSISTANT = "assistant"  # value of `Speaker.ASSISTANT`, whose module is slow to import

Item = TypeVar("Item")


def states_wish(text: str, speaker: str = "") -> bool:
    """
    Whether a line states a general preference of its writer; lines spoken by an assistant never do.

    Args:
        text: The line, including its speaker label if it has one.
        speaker: Speaker label at the start of the line; empty if there is none.
    """
    from clawmem.domain.capture.preferences import is_preference
    from clawmem.domain.capture.sentences import sentences

    if speaker.lower() == ASSISTANT:
        return False
    said = text[text.find(":", len(speaker)) + 1 :] if speaker else text
    return any(map(is_preference, sentences(said[:READ])))


def wishes_first(ranked: Sequence[Item], is_wish: Callable[[Item], bool]) -> list[Item]:
    """
    Return *ranked* with the best preferences moved directly after the first `TOP` answers.

    At most `MOST` preferences are then among the top and the moved answers together. *is_wish* is called only until
    enough preferences are found.
    """
    top, rest = ranked[:TOP], ranked[TOP:]
    wanted = max(0, MOST - sum(map(is_wish, top))) if rest else 0
    places = list(islice((n for n, one in enumerate(rest) if is_wish(one)), wanted))
    return [*top, *(rest[n] for n in places), *(one for n, one in enumerate(rest) if n not in places)]
