from __future__ import annotations

from dataclasses import replace

from clawmem.adapters.memory.tables import Tables
from clawmem.ports.sessions import Session


class MemorySessions:
    """Reference ``SessionStore`` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def start(self, session_id: str, started_at: str, machine: str = "") -> None:
        known = self.get(session_id) or Session(session_id, started_at, machine=machine)
        self.save(replace(known, ended_at=None))

    def end(self, session_id: str, ended_at: str) -> bool:
        known = self.get(session_id)
        if known:
            self.save(replace(known, ended_at=ended_at))
        return known is not None

    def save(self, session: Session) -> None:
        self._tables.sessions[session.id] = session

    def get(self, session_id: str) -> Session | None:
        return self._tables.sessions.get(session_id)

    def forget(self, handoff_path: str) -> int:
        every = self._tables.sessions.values()
        told = [
            session
            for session in every
            if session.handoff_path == handoff_path and (session.summary or session.files_changed)
        ]
        for session in told:
            self.save(replace(session, summary="", files_changed=()))
        return len(told)

    def recent(self, limit: int, before: str | None = None) -> list[Session]:
        begun = [s for s in self._tables.sessions.values() if before is None or s.started_at < before]
        by_id = sorted(begun, key=lambda session: session.id)
        return sorted(by_id, key=lambda session: session.started_at, reverse=True)[: max(limit, 0)]

    def covering(self, moment: str) -> Session | None:
        latest_first = self.recent(len(self._tables.sessions))
        return next((session for session in latest_first if _covers(session, moment)), None)


def _covers(session: Session, moment: str) -> bool:
    return session.started_at <= moment and (session.ended_at is None or moment <= session.ended_at)
