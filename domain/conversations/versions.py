"""Versions of a conversation: an older copy changes nothing, and forgotten messages stay apart from later ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.domain.conversations.messages import CleanMessage
from clawmem.domain.conversations.units import CURRENT, FORMER_SHARED, Division, Unit, units_of

_BY_DAY = 1 << 61  # more than any digest; an integer of the vault has 63 bits


class ConversationState(NamedTuple):
    """
    The imported state of a conversation: its number of units, their digest, and its version in milliseconds.

    The digest also names the division, because a conversation keeps that of its first import: a forgotten unit is known
    by its number alone. The digest is positive for units of up to `FORMER_SHARED` characters, -digest for longer ones, and
    -digest - 2**61 if the days of a talk are separate as well.
    """

    units: int = 0
    digest: int = 0
    version: int = 0

    @property
    def division(self) -> Division:
        """The division of the conversation."""
        if not self.units:
            return CURRENT
        return Division(FORMER_SHARED, False) if self.digest > 0 else Division(by_day=-self.digest >= _BY_DAY)

    def next(self, units: int, digest: int, version: int) -> ConversationState:
        """Return the state that follows this one; *digest* is positive and has at most 60 bits."""
        shared, by_day = self.division
        if shared != FORMER_SHARED:
            digest = -digest - _BY_DAY * by_day
        return ConversationState(units, digest, version)

    def is_newer_than(self, units: int, version: int) -> bool:
        """Whether this state is newer than a copy with this *version*, or as new and longer."""
        return version < self.version or (version == self.version and units < self.units)


def version_of(updated_ms: int | None, messages: Sequence[CleanMessage]) -> int:
    """Return when a conversation was updated; without a record, the time of its last message."""
    return updated_ms or max((one.at_ms for one in messages if one.is_timed), default=0)


def numbered_units(
    messages: Sequence[CleanMessage],
    forgotten: Sequence[ConversationState],
    division: Division = CURRENT,
) -> dict[int, Unit]:
    """
    Return the units of a conversation by number.

    *forgotten* are the states in which documents were forgotten, in order. Later messages share no unit with the
    messages of such a state, whose units keep their numbers. Messages without a time are no later ones.
    """
    units: dict[int, Unit] = {}
    left, last = list(messages), 0
    for state in forgotten:
        later = [one for one in left if one.is_timed and one.at_ms > state.version > 0]
        earlier = [one for one in left if not (one.is_timed and one.at_ms > state.version > 0)]
        units |= enumerate([*units_of(earlier, division)][: state.units - last], start=last + 1)
        left, last = later, state.units
    units |= enumerate(units_of(left, division), start=last + 1)
    return units
