"""Options of one prompt, and its time limits."""

from time import perf_counter
from typing import NamedTuple

from clawmem.domain.surfacing.profiles import PROFILES, Profile, ThresholdMode

FEWEST_TO_ASK = 2  # hits: one needs no reordering, and rewording for none finds nothing
COMPOSING_S = 1.0  # reserve for the start of the process and for composing the block on a busy machine


class Choices(NamedTuple):
    """
    Options of one prompt.

    Attributes:
        profile: Limits on tokens, results and time.
        topic: Topic of the session; empty if none is set.
        mode: Adaptive or absolute confidence threshold.
        session_id: Session of the prompt. Its own texts are not repeated to it while they are in its context.
        compacted_at: Time of the session's last compaction. Texts captured later are still in its context.
        elsewhere: Ids of documents that apply to other projects.
        loaded: Text that the client itself loaded into the context, with runs of whitespace collapsed.
    """

    profile: Profile = PROFILES["balanced"]
    topic: str = ""
    mode: ThresholdMode = ThresholdMode.ADAPTIVE
    session_id: str = ""
    compacted_at: str = ""
    elsewhere: frozenset[int] = frozenset()
    loaded: str = ""


class Watch:
    """Timer started when a prompt arrives, with the time limits of its profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._began = perf_counter()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the prompt arrived."""
        return perf_counter() - self._began

    @property
    def left_s(self) -> float:
        """Seconds that models may still take; not positive if there is no time left."""
        return self._profile.deadline_s - COMPOSING_S - self.elapsed_s

    def may_ask(self, hits: int) -> bool:
        """Whether models may be asked about that many hits now: none is asked late."""
        is_early = self.elapsed_s < self._profile.deepen_within_s
        return self._profile.deepens and is_early and hits >= FEWEST_TO_ASK
