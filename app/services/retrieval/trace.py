"""How an answer came about, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class StageTrace:
    """One stage: how many candidates came in and went out, how long it took, and what it wants said."""

    name: str
    came_in: int
    went_out: int
    ms: float
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Trace:
    """How an answer came about. ``degraded`` says which leg was missing and why; the rest answered."""

    stages: list[StageTrace] = field(default_factory=list)
    degraded: dict[str, str] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
