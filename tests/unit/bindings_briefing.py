"""How the vectors of what a session is told call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.briefing.current import current_rank, is_current, is_stale
from clawmem.domain.briefing.packing import packed

BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "current_rank": lambda given: current_rank(**given),
    "is_current": lambda given: is_current(**given),
    "is_stale": lambda given: is_stale(**given),
    "packed": lambda given: packed(**given),
}
