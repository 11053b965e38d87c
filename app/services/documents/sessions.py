"""Sessions as they were known at a time."""

from __future__ import annotations

from clawmem.ports.sessions import Session, SessionStore


def latest_sessions(store: SessionStore, limit: int, before: str | None = None) -> list[Session]:
    """
    The sessions that began last, newest first; with *before* as that moment knew them.

    Of one that went on beyond it nothing but its beginning is told: what came of it was written at its end.
    """
    return [as_known(session, before) for session in store.recent(limit, before)]


def as_known(session: Session, before: str | None) -> Session:
    """*session* as it was known before a moment; as it is without one."""
    if before is None or (session.ended_at is not None and session.ended_at < before):
        return session
    return Session(session.id, session.started_at, machine=session.machine)
