"""Sessions of browsers: a one-time address begins one, a cookie continues it, and a secret in its forms protects changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_urlsafe
from time import monotonic
from typing import NamedTuple

TICKET_S = 120  # lifetime of a one-time address; a cold browser takes some seconds
IDLE_S = 12 * 3600
MOST = 50  # sessions; the one that was used longest ago ends


class Message(NamedTuple):
    """The outcome of an action, shown once; ``undo`` is the number of the act that undoes it."""

    text: str
    undo: int | None = None
    is_error: bool = False


@dataclass(slots=True)
class Session:
    """The session of a browser; ``csrf`` stands in its forms, ``messages`` are shown on its next page."""

    csrf: str
    used_at: float
    messages: list[Message] = field(default_factory=list)


@dataclass
class Sessions:
    """The sessions and unused tickets of a server; they end with it."""

    now: Callable[[], float] = monotonic
    _tickets: dict[str, float] = field(default_factory=dict)
    _sessions: dict[str, Session] = field(default_factory=dict)

    def ticket(self) -> str:
        """Return a ticket, which begins one session within `TICKET_S`."""
        now = self.now()
        self._tickets = {ticket: end for ticket, end in self._tickets.items() if end > now}
        ticket = token_urlsafe(24)
        self._tickets[ticket] = now + TICKET_S
        return ticket

    def begin(self, ticket: str) -> str:
        """Return the key of a new session; empty if the ticket was used, is too old, or is none."""
        now = self.now()
        if self._tickets.pop(ticket, 0.0) <= now:
            return ""
        if len(self._sessions) >= MOST:
            del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].used_at)]
        key = token_urlsafe(32)
        self._sessions[key] = Session(token_urlsafe(24), now)
        return key

    def find(self, key: str) -> Session | None:
        """Return the session of *key*; ``None`` if there is none, or it was not used for `IDLE_S`."""
        session, now = self._sessions.get(key), self.now()
        if session is None or now - session.used_at > IDLE_S:
            self._sessions.pop(key, None)
            return None
        session.used_at = now
        return session

    def end(self, key: str) -> None:
        """End the session of *key*."""
        self._sessions.pop(key, None)
