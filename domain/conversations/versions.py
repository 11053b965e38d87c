"""Versions of a conversation: an older copy changes nothing, and forgotten messages stay apart from later ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.domain.conversations.messages import CleanMessage
from clawmem.domain.conversations.units import Unit, units_of


class ConversationState(NamedTuple):
    """
    The imported state of a conversation: its number of units, their digest, and its version in milliseconds.

    A forgotten unit is known by its number alone.
    """

    units: int = 0
    digest: int = 0
    version: int = 0

    def is_newer_than(self, units: int, version: int) -> bool:
        """Whether this state is newer than a copy with this *version*, or as new and longer."""
        return version < self.version or (version == self.version and units < self.units)


def version_of(updated_ms: int | None, messages: Sequence[CleanMessage]) -> int:
    """Return when a conversation was updated; without a record, the time of its last message."""
    return updated_ms or max((message.at_ms for message in messages if message.is_timed), default=0)


def numbered_units(
    messages: Sequence[CleanMessage], forgotten: Sequence[ConversationState]
) -> dict[int, Unit]:
    """
    Return the units of a conversation by number.

    *forgotten* are the states in which documents were forgotten, in order. Later messages share no unit with the
    messages of such a state, whose units keep their numbers. Messages without a time are no later ones.
    """
    units: dict[int, Unit] = {}
    left, last = list(messages), 0
    for state in forgotten:
        later = [message for message in left if message.is_timed and message.at_ms > state.version > 0]
        earlier = [
            message for message in left if not (message.is_timed and message.at_ms > state.version > 0)
        ]
        units |= enumerate([*units_of(earlier)][: state.units - last], start=last + 1)
        left, last = later, state.units
    units |= enumerate(units_of(left), start=last + 1)
    return units
