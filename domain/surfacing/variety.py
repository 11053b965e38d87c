"""What kind of memory an answer is, and that a way of doing things is not buried below what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from clawmem.domain.security.patterns import AnyCase

FEWEST = 4  # answers
TOP = 3  # among which a procedure is looked for, and behind which one is put

Item = TypeVar("Item")

_PROCEDURE = AnyCase(
    r"\bstep \d|\bworkflow|\brecipe|\bhow to\b|\bprocedure|\brunbook|\bplaybook",
    "step |workflow|recipe|how to|procedure|runbook|playbook",
)
_PROCEDURE_PATH = AnyCase(r"(?<![a-z])sops?(?![a-z])|runbook|playbook", "sop|runbook|playbook")
_EPISODE = AnyCase("handoff|progress|conversation", "handoff|progress|conversation")


class MemoryKind(StrEnum):
    """How to do something, what happened, or what is so."""

    PROCEDURAL = "procedural"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"


def memory_kind(path: str, content_type: str, body: str) -> MemoryKind:
    """The kind of a document, by its path and type and the words of its body."""
    if _PROCEDURE_PATH.search(path) or _PROCEDURE.search(body):
        return MemoryKind.PROCEDURAL
    return MemoryKind.EPISODIC if _EPISODE.search(f"{path} {content_type}") else MemoryKind.SEMANTIC


def vary(ranked: Sequence[Item], kind_of: Callable[[Item], MemoryKind]) -> list[Item]:
    """*ranked*, with the best procedure fourth where none of the first three is one; fewer than four stay."""
    answers = list(ranked)
    if len(answers) < FEWEST or any(kind_of(one) is MemoryKind.PROCEDURAL for one in answers[:TOP]):
        return answers
    below = (n for n in range(TOP, len(answers)) if kind_of(answers[n]) is MemoryKind.PROCEDURAL)
    if (best := next(below, None)) is not None:
        answers.insert(TOP, answers.pop(best))
    return answers
