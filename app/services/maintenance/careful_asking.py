"""Model calls of maintenance runs: unusable answers are counted, and an unavailable model is not asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.app.services.knowledge.asking import CALLS_A_DAY, Ask, DailyLimitReached
from clawmem.domain.knowledge.enrichment import ModelTask
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError, ModelUnavailable
from clawmem.ports.generator import Generator
from clawmem.ports.vault import Vault

Fence = Callable[[], None]


class CarefulAsk:
    """
    Asks a model on behalf of one run; each call is recorded and counts towards the daily limit.

    Args:
        fence: Called before each question. Its exceptions propagate to the caller.
    """

    def __init__(self, ask: Ask, fence: Fence) -> None:
        self._ask = ask
        self._fence = fence
        self.null_calls = 0
        self.stopped = ""  # reason why no more questions are asked

    def __call__(self, asked: ModelTask, prompt: str) -> Any | None:
        """Return the answer, or ``None`` if the model gave no usable one."""
        if self.stopped:
            return None
        self._fence()
        value = self._answer(asked, prompt)
        self.null_calls += value is None
        return value

    def _answer(self, asked: ModelTask, prompt: str) -> Any | None:
        try:
            return self._ask(asked, prompt)
        except (DailyLimitReached, ModelUnavailable) as reason:
            self.stopped = str(reason)
        except ModelError:
            pass
        return None


def careful(
    vault: Vault, clock: Clock, generator: Generator | None, fence: Fence, calls_a_day: int = CALLS_A_DAY
) -> CarefulAsk | None:
    """Return the `CarefulAsk` of one run for *generator*, or ``None`` without a generator."""
    if generator is None:
        return None
    return CarefulAsk(Ask(vault, generator, clock, calls_a_day=calls_a_day), fence)
