"""What decides, beside the prompt itself, what a prompt shall carry."""

from __future__ import annotations

from clawmem.domain.surfacing.profiles import PROFILES, Profile, ThresholdMode
from clawmem.ports.named_tuple import NamedTuple


class Choices(NamedTuple):
    """
    Of one prompt: the profile, the ``topic`` of its session, and the question to look for.

    ``asked`` is the prompt with those before it; only the indexes get it. Everything that judges what they
    find judges it by the prompt alone. ``looks_back`` says that the two differ. What the session ``session_id`` said
    itself after ``compacted_at`` still stands in its conversation, and so does ``loaded``, in which blanks are collapsed:
    what its client put there.
    """

    profile: Profile = PROFILES["balanced"]
    asked: str = ""
    topic: str = ""
    mode: ThresholdMode = ThresholdMode.ADAPTIVE
    looks_back: bool = False
    session_id: str = ""
    compacted_at: str = ""
    loaded: str = ""
