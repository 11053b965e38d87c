from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class AgentSession(NamedTuple):
    """A session of an agent: its id, the size of its transcript, and the time of its last change."""

    id: str
    size_bytes: int
    messages: int
    updated_ms: int


class AgentMessage(NamedTuple):
    """A message of a session; ``role`` is ``user`` or ``assistant``."""

    role: str
    text: str


class AgentSessions(Protocol):
    """Recorded sessions of one agent. A missing record has no sessions."""

    def sessions(self) -> Sequence[AgentSession]:
        """
        Return the sessions by id. One whose transcript was moved to an archive has no messages.

        Raises:
            SourceUnreadable: The record is damaged, of an unknown format, or of another agent.
        """

    def messages(self, session_id: str) -> Sequence[AgentMessage]:
        """
        Return the messages of the user and the assistant in order; none for an unknown session.

        Raises:
            SourceUnreadable: As `sessions`.
        """
