from __future__ import annotations

import random
import time
from collections.abc import Callable
from threading import Lock

from clawmem.ports.clock import Clock

CHARS_PER_TOKEN = 4
SAFETY = 0.85  # share of the limit that is used; the provider counts tokens differently
LEAST_GAP_S = 0.5  # limits on requests are less often documented than limits on tokens
_SPREAD = 0.15

Sleep = Callable[[float], None]


class TokenRateLimiter:
    """
    Rate limit in tokens per minute for all threads of this process.

    A request reserves time for its estimated tokens beforehand, and is settled by the charged tokens
    afterwards.
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
        """Wait until a request of about *tokens* may be sent."""
        wait_ms = self._reserved_ms(tokens)
        if wait_ms > 0:
            self._sleep(wait_ms / 1000 * (1 + _SPREAD * (2 * self._chance() - 1)))

    def settle(self, reserved: int, charged: int) -> None:
        """Correct the reservation of *reserved* tokens to the *charged* tokens, which changes the next wait."""
        with self._lock:
            self._free_ms += (charged - reserved) * self._ms_per_token

    def charge(self, tokens: int) -> None:
        """Count a request of *tokens* that was sent without waiting, so that the next one waits longer."""
        with self._lock:
            self._free_ms = max(self._free_ms, self._clock.now_ms()) + tokens * self._ms_per_token

    def _reserved_ms(self, tokens: int) -> float:
        with self._lock:
            now_ms = float(self._clock.now_ms())
            if now_ms < self._asked_ms:
                self._free_ms = now_ms  # the clock was set back, which invalidates the reservation
            self._asked_ms = now_ms
            start_ms = max(now_ms, self._free_ms)
            self._free_ms = start_ms + max(LEAST_GAP_S * 1000, tokens * self._ms_per_token)
            return start_ms - now_ms


def estimated_tokens(texts: list[str]) -> int:
    """Return the estimated number of tokens of *texts*."""
    return sum(len(text) for text in texts) // CHARS_PER_TOKEN + len(texts)
