"""How long to wait before a server is asked again: what it says itself, or twice as long every time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from clawmem.adapters.http.deadline import Left

JITTER = 0.25  # of a wait, either way, so that those who failed together do not come back together


@dataclass(frozen=True, slots=True)
class Patience:
    """
    How often to try, and the waits between: the first, doubled until the longest.

    Somebody who waits for the answer gives one time for all tries and waits together. Work that nobody waits for
    is ``unhurried``: each try has all of the time, and the waits have limits of their own.
    """

    tries: int
    first_s: float
    longest_s: float
    unhurried: bool = False
    longest_asked_s: float = 0.0  # the longest wait that a server may ask of unhurried work

    def wait_s(self, failures: int, chance: float) -> float:
        """
        The wait after the *failures*-th failure in a row.

        Args:
            chance: From 0 to 1, equally likely.
        """
        wait = min(self.longest_s, self.first_s * 2.0 ** (failures - 1))
        return wait * (1 + JITTER * (2 * chance - 1))


QUESTION = Patience(tries=5, first_s=1.0, longest_s=30.0)
EMBEDDING = Patience(tries=5, first_s=2.0, longest_s=60.0, unhurried=True, longest_asked_s=300.0)


class Limits(NamedTuple):
    """What bounds one piece of work: the time for each request, and how often a request is made again."""

    left: Left
    patience: Patience


def asked_wait_s(headers: Mapping[str, str], now_ms: int) -> float | None:
    """
    The wait that a server asks for, in seconds, never negative; None when it asks for none that can be read.

    ``retry-after-ms`` counts before ``retry-after``, which holds seconds or the date from which to ask again.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after", "").strip()
    seconds = _number(after)
    return seconds if seconds is not None else _until_date_s(after, now_ms)


def says_retry(headers: Mapping[str, str]) -> bool | None:
    """What the server says about trying again, in ``x-should-retry``; None when it says nothing."""
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
    # Without a zone ("-0000" or none) the date is meant as UTC.
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - now_ms / 1000)
