from __future__ import annotations

from threading import Lock

from clawmem.ports.clock import Clock

COOL_DOWN_S = 60.0
LONGEST_REST_S = 600.0  # whatever a server asks for: after ten minutes one more question does no harm


class Circuit:
    """
    Whether a server may be asked: not for a minute after it could not be reached, nor before it said so.

    When a rest is over one caller goes first; the others wait for another rest, or until that one succeeded.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._since_ms = self._until_ms = 0
        self._is_resting = False
        self.reason = ""

    def left_s(self) -> float:
        """Seconds for which the server is not to be asked; 0 lets the caller through."""
        now_ms = self._clock.now_ms()
        with self._lock:
            # A clock that was set back says nothing about how long it has been: ask.
            if self._is_resting and self._since_ms <= now_ms < self._until_ms:
                return (self._until_ms - now_ms) / 1000
            if self._is_resting:
                self._rest(now_ms, COOL_DOWN_S)
            return 0.0

    def rest(self, reason: str, seconds: float = COOL_DOWN_S) -> None:
        """Let the server alone for *seconds*, ten minutes at the most."""
        with self._lock:
            self.reason = reason
            self._rest(self._clock.now_ms(), min(seconds, LONGEST_REST_S))

    def close(self) -> None:
        """The server answered: ask it as usual."""
        with self._lock:
            self._is_resting = False

    def _rest(self, now_ms: int, seconds: float) -> None:
        self._is_resting = True
        self._since_ms, self._until_ms = now_ms, now_ms + round(seconds * 1000)
