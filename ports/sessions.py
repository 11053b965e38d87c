from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Session:
    """
    One session of a user or agent that worked with the memory: its start, its end and its results.

    ``ended_at`` is ``None`` while the session is open. ``handoff_path`` is the document that hands the work
    over, ``machine`` the name of the host.
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
    Store of sessions by id.

    The caller passes all times in the format of records, and they are compared as text; an implementation
    never reads a clock.
    """

    def start(self, session_id: str, started_at: str, machine: str = "") -> None:
        """Begin a session. A known session is reopened: its end is cleared and everything else is unchanged."""

    def end(self, session_id: str, ended_at: str) -> bool:
        """Set the end of a session and return whether the session exists."""

    def save(self, session: Session) -> None:
        """Store a complete session, replacing any session with the same id."""

    def get(self, session_id: str) -> Session | None:
        """Return the session with this id, or ``None``."""

    def forget(self, handoff_path: str) -> int:
        """
        Clear the summary and files of the sessions that were handed over in this document.

        Returns:
            The number of sessions that had a summary or files.
        """

    def recent(self, limit: int, before: str | None = None) -> list[Session]:
        """
        Return the sessions that began last, newest first, then by id; a limit below 1 returns none.

        With *before*, only sessions that began earlier than this time are returned.
        """

    def covering(self, moment: str) -> Session | None:
        """
        Return the session whose interval, ends included, contains *moment*; an open session has no end.

        If several sessions contain *moment*, the one that began last is returned, ties by id. A session that
        a user forgot to end therefore does not hide later ones.
        """
