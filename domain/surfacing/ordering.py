"""Orders of the answers in a block: those used together, a procedure, and stated preferences move up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from clawmem.domain.capture.cues import is_preference
from clawmem.domain.capture.sentences import sentences
from clawmem.domain.security.patterns import AnyCase
from clawmem.domain.surfacing.packing import CHARACTERS, HOT_ABOVE, Tier

Key = TypeVar("Key", int, str)
Item = TypeVar("Item")
Partners = Callable[[Key], Sequence[tuple[Key, int]]]

FEWEST = 4  # answers: up to three are all shown, so their order does not matter
TOP = 3  # answers from the top that stay before promoted ones

SOURCES = 3  # answers from the top that spread activation
PARTNERS = 3  # partners of each source, the most frequent first
STEP, MOST_GAIN = 0.1, 0.2  # gain per joint use, and maximum gain from one source

MOST_WISHES = 3  # preferences near the top; the other places are for answers
READ = CHARACTERS[Tier.HOT]  # characters of a line; the rest is not shown
ASSISTANT = "assistant"  # value of `Speaker.ASSISTANT`, whose module is slow to import

# Least relevance of the best line of each note that ranks first among notes, as a share of the best line: enough for
# the last one to be quoted.
LEAST_NOTE = 0.25  # relevance that such a note needs, as a share of the best note: others only look alike to the vectors
NOTE_SHARES = (0.9, 0.8, 0.75, 0.7, 0.65, 0.64, 0.63, 0.62)

_PROCEDURE = AnyCase(
    r"\bstep \d|\bworkflow|\brecipe|\bhow to\b|\bprocedure|\brunbook|\bplaybook",
    "step |workflow|recipe|how to|procedure|runbook|playbook",
)
_PROCEDURE_PATH = AnyCase(r"(?<![a-z])sops?(?![a-z])|runbook|playbook", "sop|runbook|playbook")
_EPISODE = AnyCase("handoff|progress|conversation", "handoff|progress|conversation")


def activation(ranked: Sequence[tuple[Key, float]], partners: Partners[Key]) -> dict[Key, float]:
    """
    Return the score gain of each answer by spreading activation: documents used together with the best ones gain.

    Each of the first `SOURCES` answers that scores more than 0.8 spreads to its first `PARTNERS`. A partner that is
    itself an answer and scores 0.8 or less gains ``min(0.2, 0.1 · times)`` from each such source.

    Args:
        ranked: Answers with their scores, best first.
        partners: Returns the items used together with an answer and how often, most frequent first.
    """
    scores, gained = dict(ranked), dict.fromkeys((key for key, _ in ranked), 0.0)
    if len(ranked) < FEWEST:
        return gained
    for source, score in ranked[:SOURCES]:
        for partner, times in partners(source)[:PARTNERS] if score > HOT_ABOVE else ():
            if scores.get(partner, 1.0) <= HOT_ABOVE:
                gained[partner] += min(MOST_GAIN, STEP * times)
    return gained


class MemoryKind(StrEnum):
    """Kind of memory: procedure, event or general fact."""

    PROCEDURAL = "procedural"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"


def memory_kind(path: str, content_type: str, body: str) -> MemoryKind:
    """Return the kind of a document from its path, its type and the words of its body."""
    if _PROCEDURE_PATH.search(path) or _PROCEDURE.search(body):
        return MemoryKind.PROCEDURAL
    return MemoryKind.EPISODIC if _EPISODE.search(f"{path} {content_type}") else MemoryKind.SEMANTIC


def vary(ranked: Sequence[Item], kind_of: Callable[[Item], MemoryKind]) -> list[Item]:
    """Return *ranked* with the best procedure moved to fourth place if none of the first three is a procedure."""
    answers = list(ranked)
    if len(answers) < FEWEST or any(kind_of(one) is MemoryKind.PROCEDURAL for one in answers[:TOP]):
        return answers
    below = (n for n in range(TOP, len(answers)) if kind_of(answers[n]) is MemoryKind.PROCEDURAL)
    if (best := next(below, None)) is not None:
        answers.insert(TOP, answers.pop(best))
    return answers


def states_wish(text: str, speaker: str = "") -> bool:
    """
    Whether a line states a general preference of its writer; lines spoken by an assistant never do.

    Args:
        text: The line, including its speaker label if it has one.
        speaker: Speaker label at the start of the line; empty if there is none.
    """
    if speaker.lower() == ASSISTANT:
        return False
    said = text[text.find(":", len(speaker)) + 1 :] if speaker else text
    return any(map(is_preference, sentences(said[:READ])))


def wishes_first(ranked: Sequence[Item], is_wish: Callable[[Item], bool]) -> list[Item]:
    """
    Return *ranked* with the best preferences moved directly after the first `TOP` answers.

    At most `MOST_WISHES` preferences are then among the top and the moved answers together. *is_wish* is called only until
    enough preferences are found.
    """
    top, rest = ranked[:TOP], ranked[TOP:]
    wanted = max(0, MOST_WISHES - sum(map(is_wish, top))) if rest else 0
    places = list(islice((n for n, one in enumerate(rest) if is_wish(one)), wanted))
    return [*top, *(rest[n] for n in places), *(one for n, one in enumerate(rest) if n not in places)]
