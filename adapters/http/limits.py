"""Limits of requests: deadlines and retries, a circuit breaker, and a rate limit in tokens per minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from clawmem.ports.clock import Clock

LONGEST_ASKED_S = 300.0  # the longest wait that a server may ask background work for
COOL_DOWN_S = 60.0
LONGEST_REST_S = 600.0  # one more attempt after ten minutes does no harm, whatever the server asked for
SAFETY = 0.85  # share of a rate limit that is used; the provider counts tokens differently
LEAST_GAP_S = 0.5  # between requests; limits on requests are less often documented than limits on tokens

Sleep = Callable[[float], None]


class Limits:
    """
    Time for one piece of work, which may need several requests; it starts now.

    While a caller waits for the result, *timeout_s* covers all attempts and waits. In *background* work each
    request has the full timeout, and a server may ask for waits of up to five minutes.
    """

    def __init__(self, timeout_s: float, *, background: bool = False) -> None:
        self.background = background
        self.timeout_s = timeout_s
        self._until = time.monotonic() + timeout_s

    def left_s(self) -> float:
        """Return the seconds that the next request may take; zero or negative when the time is over."""
        return self.timeout_s if self.background else self._until - time.monotonic()

    def longest_wait_s(self) -> float:
        """Return the longest wait between two attempts."""
        return LONGEST_ASKED_S if self.background else self.left_s()


class CircuitBreaker:
    """
    Circuit breaker for a server: blocks requests for a minute after a failure, or as long as the server asked for.

    When the period ends, one caller goes first. The others are blocked for another minute, or until that one
    succeeded.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._since_ms = self._until_ms = 0
        self._is_open = False
        self.reason = ""

    def left_s(self) -> float:
        """Return the seconds until the next request is allowed; 0 lets the caller through."""
        now_ms = self._clock.now_ms()
        with self._lock:
            # If the clock was set back, the elapsed time is unknown, so the request is allowed.
            if self._is_open and self._since_ms <= now_ms < self._until_ms:
                return (self._until_ms - now_ms) / 1000
            self._since_ms, self._until_ms = now_ms, now_ms + round(COOL_DOWN_S * 1000)
            return 0.0

    def open(self, reason: str, seconds: float = COOL_DOWN_S) -> None:
        """Block requests for *seconds*, but for ten minutes at most."""
        now_ms = self._clock.now_ms()
        with self._lock:
            self.reason, self._is_open = reason, True
            self._since_ms, self._until_ms = now_ms, now_ms + round(min(seconds, LONGEST_REST_S) * 1000)

    def close(self) -> None:
        """Record a success, which allows requests again."""
        with self._lock:
            self._is_open = False


class TokenRateLimiter:
    """Rate limit in tokens per minute for all threads of this process."""

    def __init__(self, tokens_per_minute: int, clock: Clock, *, sleep: Sleep = time.sleep) -> None:
        self._ms_per_token = 60_000 / (tokens_per_minute * SAFETY)
        self._clock = clock
        self._sleep = sleep
        self._lock = Lock()
        self._last_ms = self._free_ms = 0.0

    def wait(self, tokens: int) -> None:
        """Wait until a request of about *tokens* may be sent, and reserve its time."""
        with self._lock:
            now_ms = float(self._clock.now_ms())
            if now_ms < self._last_ms:
                self._free_ms = now_ms  # the clock was set back, which invalidates the reservation
            self._last_ms = now_ms
            start_ms = max(now_ms, self._free_ms)
            self._free_ms = start_ms + max(LEAST_GAP_S * 1000, tokens * self._ms_per_token)
        if start_ms > now_ms:
            self._sleep((start_ms - now_ms) / 1000)

    def charge(self, tokens: int) -> None:
        """Count *tokens* beyond the reserved ones, or fewer if negative, so that the next wait is right."""
        with self._lock:
            self._free_ms = max(self._free_ms, self._clock.now_ms()) + tokens * self._ms_per_token
