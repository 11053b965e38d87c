"""Options and time limits of one prompt."""

from time import perf_counter
from typing import NamedTuple

from clawmem.domain.surfacing import deepening as policy
from clawmem.domain.surfacing.profiles import PROFILES, Profile, ThresholdMode


class Choices(NamedTuple):
    """
    Options of one prompt.

    Attributes:
        profile: Limits on tokens, results and time.
        topic: Topic of the session; empty if none is set.
        prompt: Prompt whose form is used for answerability when the query also contains earlier prompts; else empty.
        mode: Adaptive or absolute confidence threshold.
        session_id: Session of the prompt. Its own texts are not repeated to it while they are in its context.
        compacted_at: Time of the session's last compaction. Texts captured later are still in its context.
        elsewhere: Ids of documents that apply to other projects.
        loaded: Text that the client itself loaded into the context, with runs of whitespace collapsed.
    """

    profile: Profile = PROFILES["balanced"]
    topic: str = ""
    prompt: str = ""
    mode: ThresholdMode = ThresholdMode.ADAPTIVE
    session_id: str = ""
    compacted_at: str = ""
    loaded: str = ""
    elsewhere: frozenset[int] = frozenset()


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
