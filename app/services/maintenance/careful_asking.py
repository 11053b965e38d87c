"""How upkeep asks a model: what it cannot say is nothing, and counted; one that is away is not asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.app.services.knowledge.asking import CALLS_A_DAY, Ask, DayIsSpent
from clawmem.domain.knowledge.enrichment import ModelTask
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError, ModelUnavailable
from clawmem.ports.generator import Generator
from clawmem.ports.vault import Vault

Fence = Callable[[], None]


class CarefulAsk:
    """
    One run's questions to a model, each in the ledger and within the limit of the day.

    Args:
        fence: Called before each question; what it raises, asking raises.
    """

    def __init__(self, ask: Ask, fence: Fence) -> None:
        self._ask = ask
        self._fence = fence
        self.null_calls = 0
        self.stopped = ""  # why nothing is asked any more

    def __call__(self, asked: ModelTask, prompt: str) -> Any | None:
        """The answer; ``None`` when none came that can be used."""
        if self.stopped:
            return None
        self._fence()
        value = self._answer(asked, prompt)
        self.null_calls += value is None
        return value

    def _answer(self, asked: ModelTask, prompt: str) -> Any | None:
        try:
            return self._ask(asked, prompt)
        except (DayIsSpent, ModelUnavailable) as reason:
            self.stopped = str(reason)
        except ModelError:
            pass
        return None


def careful(
    vault: Vault, clock: Clock, generator: Generator | None, fence: Fence, calls_a_day: int = CALLS_A_DAY
) -> CarefulAsk | None:
    """How *generator* is asked in one run; ``None`` without one."""
    if generator is None:
        return None
    return CarefulAsk(Ask(vault, generator, clock, calls_a_day=calls_a_day), fence)
