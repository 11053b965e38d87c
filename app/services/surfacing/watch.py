"""Timer for the time limits of a prompt."""

from __future__ import annotations

from time import perf_counter

from clawmem.domain.surfacing import deepening as policy
from clawmem.domain.surfacing.profiles import Profile


class Watch:
    """Timer started when a prompt arrives, with the time limits of its profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._began = perf_counter()

    @property
    def ms(self) -> float:
        """Milliseconds since the prompt arrived."""
        return self._elapsed() * 1000

    def may_ask(self, results: int) -> bool:
        """Whether models may be asked now; see `policy.may_ask`."""
        return policy.may_ask(self._profile, self._elapsed(), results)

    def may_read(self, results: int) -> bool:
        """Whether a reranker may read the results now; see `policy.may_read`."""
        return policy.may_read(self._profile, self._elapsed(), results)

    def left(self) -> float:
        """Return the seconds that models may still take; not positive if there is no time left."""
        return policy.seconds_left(self._profile, self._elapsed())

    def _elapsed(self) -> float:
        return perf_counter() - self._began
