"""Kinds of memory, and a reordering that keeps procedures from being buried below episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from clawmem.domain.security.patterns import AnyCase

FEWEST = 4  # answers
TOP = 3  # answers from the top; if none is a procedure, one is placed directly after them

Item = TypeVar("Item")

_PROCEDURE = AnyCase(
    r"\bstep \d|\bworkflow|\brecipe|\bhow to\b|\bprocedure|\brunbook|\bplaybook",
    "step |workflow|recipe|how to|procedure|runbook|playbook",
)
_PROCEDURE_PATH = AnyCase(r"(?<![a-z])sops?(?![a-z])|runbook|playbook", "sop|runbook|playbook")
_EPISODE = AnyCase("handoff|progress|conversation", "handoff|progress|conversation")


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
