from __future__ import annotations

from threading import Lock

from clawmem.ports.clock import Clock

COOL_DOWN_S = 60.0
# upper limit for a server's own request; one more attempt after ten minutes does no harm
LONGEST_REST_S = 600.0


class CircuitBreaker:
    """
    Circuit breaker for a server: blocks requests for a minute after a failure, or as long as the server asked
    for.

    When the period ends, one caller goes first. The others are blocked for another minute, or until that one
    succeeded.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._since_ms = self._until_ms = 0
        self._is_resting = False
        self.reason = ""

    def left_s(self) -> float:
        """Return the seconds until the next request is allowed; 0 lets the caller through."""
        now_ms = self._clock.now_ms()
        with self._lock:
            # If the clock was set back, the elapsed time is unknown, so the request is allowed.
            if self._is_resting and self._since_ms <= now_ms < self._until_ms:
                return (self._until_ms - now_ms) / 1000
            if self._is_resting:
                self._rest(now_ms, COOL_DOWN_S)
            return 0.0

    def rest(self, reason: str, seconds: float = COOL_DOWN_S) -> None:
        """Block requests for *seconds*, but for ten minutes at most."""
        with self._lock:
            self.reason = reason
            self._rest(self._clock.now_ms(), min(seconds, LONGEST_REST_S))

    def close(self) -> None:
        """Record a success, which allows requests again."""
        with self._lock:
            self._is_resting = False

    def _rest(self, now_ms: int, seconds: float) -> None:
        self._is_resting = True
        self._since_ms, self._until_ms = now_ms, now_ms + round(seconds * 1000)
