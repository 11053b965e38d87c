"""Options of one surfacing request, apart from the prompt itself."""

from __future__ import annotations

from typing import NamedTuple

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
        loaded: Text that the client itself loaded into the context, with runs of whitespace collapsed.
    """

    profile: Profile = PROFILES["balanced"]
    topic: str = ""
    prompt: str = ""
    mode: ThresholdMode = ThresholdMode.ADAPTIVE
    session_id: str = ""
    compacted_at: str = ""
    loaded: str = ""
