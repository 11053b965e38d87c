from __future__ import annotations

import random
import time
from collections.abc import Callable
from threading import Lock

from clawmem.ports.clock import Clock

CHARS_PER_TOKEN = 4
SAFETY = 0.85  # of the limit; the provider counts otherwise than we estimate
LEAST_GAP_S = 0.5  # limits on requests are less often documented than those on tokens
_SPREAD = 0.15

Sleep = Callable[[float], None]


class Pace:
    """
    Keeps requests below so many tokens a minute, in all threads of this process together.

    Every request takes its time beforehand, by an estimate, and settles it afterwards, by what was charged.
    """

    def __init__(
        self,
        tokens_per_minute: int,
        clock: Clock,
        *,
        sleep: Sleep = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._ms_per_token = 60_000 / (tokens_per_minute * SAFETY)
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._lock = Lock()
        self._asked_ms = self._free_ms = 0.0

    def wait(self, tokens: int) -> None:
        """Return when a request of about *tokens* may be sent."""
        wait_ms = self._reserved_ms(tokens)
        if wait_ms > 0:
            self._sleep(wait_ms / 1000 * (1 + _SPREAD * (2 * self._chance() - 1)))

    def settle(self, reserved: int, charged: int) -> None:
        """A request that had waited for *reserved* tokens was charged *charged*: the next waits longer or less."""
        with self._lock:
            self._free_ms += (charged - reserved) * self._ms_per_token

    def charge(self, tokens: int) -> None:
        """A request of *tokens* was made without waiting: the next one waits for it."""
        with self._lock:
            self._free_ms = max(self._free_ms, self._clock.now_ms()) + tokens * self._ms_per_token

    def _reserved_ms(self, tokens: int) -> float:
        with self._lock:
            now_ms = float(self._clock.now_ms())
            if now_ms < self._asked_ms:
                self._free_ms = now_ms  # the clock was set back; what was reserved by it means nothing now
            self._asked_ms = now_ms
            start_ms = max(now_ms, self._free_ms)
            self._free_ms = start_ms + max(LEAST_GAP_S * 1000, tokens * self._ms_per_token)
            return start_ms - now_ms


def estimated_tokens(texts: list[str]) -> int:
    """About how many tokens *texts* are, before anybody has counted."""
    return sum(len(text) for text in texts) // CHARS_PER_TOKEN + len(texts)
