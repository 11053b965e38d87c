"""How somebody wants things done: that it is not buried below what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

from clawmem.domain.surfacing.tiers import CHARACTERS, Tier

MOST = 3  # a prompt is about what happened as well
TOP = 3  # answers that stay in front of them
READ = CHARACTERS[Tier.HOT]  # of a line: more of it is not shown
ASSISTANT = "assistant"  # `Speaker.ASSISTANT`, whose module takes longer to load than this one to ask

Item = TypeVar("Item")


def states_wish(text: str, speaker: str = "") -> bool:
    """
    Whether a line says how its writer wants things done, always; what an assistant says is nobody's wish.

    Args:
        text: The line with its speaker, if it has one.
        speaker: Who says it, as the line begins; empty where nobody is named.
    """
    from clawmem.domain.capture.preferences import is_preference
    from clawmem.domain.capture.sentences import sentences

    if speaker.lower() == ASSISTANT:
        return False
    said = text[text.find(":", len(speaker)) + 1 :] if speaker else text
    return any(map(is_preference, sentences(said[:READ])))


def wishes_first(ranked: Sequence[Item], is_wish: Callable[[Item], bool]) -> list[Item]:
    """
    *ranked*, with the best wishes directly behind the first `TOP`, so that `MOST` stand there or before.

    No more answers are asked whether they are one than that takes.
    """
    top, rest = ranked[:TOP], ranked[TOP:]
    wanted = max(0, MOST - sum(map(is_wish, top))) if rest else 0
    places = list(islice((n for n, one in enumerate(rest) if is_wish(one)), wanted))
    return [*top, *(rest[n] for n in places), *(one for n, one in enumerate(rest) if n not in places)]
