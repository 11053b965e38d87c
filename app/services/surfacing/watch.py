"""How long a prompt has been waiting."""

from __future__ import annotations

from time import perf_counter

from clawmem.domain.surfacing import deepening as policy
from clawmem.domain.surfacing.profiles import Profile


class Watch:
    """How long a prompt has been waiting, beside what its profile allows."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._began = perf_counter()

    @property
    def ms(self) -> float:
        """Milliseconds until now."""
        return self._elapsed() * 1000

    def may_ask(self, results: int) -> bool:
        """See `policy.may_ask`."""
        return policy.may_ask(self._profile, self._elapsed(), results)

    def may_read(self, results: int) -> bool:
        """See `policy.may_read`."""
        return policy.may_read(self._profile, self._elapsed(), results)

    def left(self) -> float:
        """Seconds for which models may still be waited for."""
        return policy.seconds_left(self._profile, self._elapsed())

    def _elapsed(self) -> float:
        return perf_counter() - self._began
