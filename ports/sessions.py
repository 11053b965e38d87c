from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Session:
    """
    One sitting of somebody who worked with the memory: from when to when, and what came of it.

    ``ended_at`` is ``None`` while it goes on. ``handoff_path`` is the document in which it was handed over,
    ``machine`` the name of the host.
    """

    id: str
    started_at: str
    ended_at: str | None = None
    handoff_path: str | None = None
    summary: str = ""
    files_changed: tuple[str, ...] = ()
    machine: str = ""


class SessionStore(Protocol):
    """
    Who worked when: a session per id.

    Times are handed in as records write them and compared as text; an implementation never reads a clock.
    """

    def start(self, session_id: str, started_at: str, machine: str = "") -> None:
        """Begin a session; one that is known goes on: its end is open again, everything else stays."""
        ...

    def end(self, session_id: str, ended_at: str) -> bool:
        """End a session, or move its end; whether there is such a session."""
        ...

    def save(self, session: Session) -> None:
        """Write down a whole session, in the place of the one of that id."""
        ...

    def get(self, session_id: str) -> Session | None:
        """One session."""
        ...

    def forget(self, handoff_path: str) -> int:
        """Take summary and files out of the sessions that were handed over in this document; how many had any."""
        ...

    def recent(self, limit: int, before: str | None = None) -> list[Session]:
        """
        The sessions that began last, newest first, then by id; a limit below 1 gives none.

        With *before* only those that began earlier than this moment.
        """
        ...

    def covering(self, moment: str) -> Session | None:
        """
        The session in which *moment* lies, both ends included; one that goes on has no end.

        Of several the one that began last, and of those the first by id: who forgot to end a session has not
        worked in it ever since.
        """
        ...
