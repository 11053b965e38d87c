"""What decides, beside the prompt itself, what a prompt shall carry."""

from __future__ import annotations

from clawmem.domain.surfacing.profiles import PROFILES, Profile, ThresholdMode
from clawmem.ports.named_tuple import NamedTuple


class Choices(NamedTuple):
    """
    Of one prompt: the profile, and the ``topic`` of its session.

    ``prompt`` is the prompt whose form tells how likely an answer is, where the request asks for earlier ones as well;
    empty where the request holds the prompt alone. What the session ``session_id`` said
    itself after ``compacted_at`` still stands in its conversation, and so does ``loaded``, in which blanks are collapsed:
    what its client put there.
    """

    profile: Profile = PROFILES["balanced"]
    topic: str = ""
    prompt: str = ""
    mode: ThresholdMode = ThresholdMode.ADAPTIVE
    session_id: str = ""
    compacted_at: str = ""
    loaded: str = ""
