"""Deadlines and the retry policy: exponential back-off, or the wait that the server asks for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple

TimeLeft = Callable[[], float]
"""Returns the seconds that the next request may take; zero or negative when the time is over."""

# share of a wait, in both directions, so that clients that failed together do not retry together
JITTER = 0.25


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """
    Number of attempts and the waits between them: the first wait, doubled up to the longest.

    If a caller waits for the result, one timeout covers all attempts and waits. In
    ``background`` work each attempt has the full timeout, and the waits have limits of their own.
    """

    tries: int
    first_s: float
    longest_s: float
    background: bool = False
    longest_asked_s: float = 0.0  # the longest wait that a server may request of background work

    def wait_s(self, failures: int, chance: float) -> float:
        """
        Return the wait after *failures* consecutive failures.

        Args:
            chance: Uniform random number from 0 to 1.
        """
        wait = min(self.longest_s, self.first_s * 2.0 ** (failures - 1))
        return wait * (1 + JITTER * (2 * chance - 1))


QUESTION = RetryPolicy(tries=5, first_s=1.0, longest_s=30.0)
EMBEDDING = RetryPolicy(tries=5, first_s=2.0, longest_s=60.0, background=True, longest_asked_s=300.0)


class Limits(NamedTuple):
    """Limits of one piece of work: the time for each request, and the retry policy."""

    left: TimeLeft
    policy: RetryPolicy


def deadline(timeout_s: float) -> TimeLeft:
    """Return a function that gives the seconds left of *timeout_s*, counted from now."""
    until = time.monotonic() + timeout_s
    return lambda: until - time.monotonic()


def per_request(timeout_s: float) -> TimeLeft:
    """Return a function that gives *timeout_s* for every request."""
    return lambda: timeout_s


def requested_wait_s(headers: Mapping[str, str], now_ms: int) -> float | None:
    """
    Return the wait that a server requests, in seconds, never negative; None if there is no valid request.

    ``retry-after-ms`` takes precedence over ``retry-after``, which contains seconds or a date.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after", "").strip()
    seconds = _number(after)
    return seconds if seconds is not None else _until_date_s(after, now_ms)


def says_retry(headers: Mapping[str, str]) -> bool | None:
    """Return the value of the header ``x-should-retry``; None if it is missing or invalid."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _until_date_s(text: str, now_ms: int) -> float | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # Without a time zone ("-0000" or none) the date is in UTC.
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - now_ms / 1000)
