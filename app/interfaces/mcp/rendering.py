"""Sessions as records, and as the few lines that an assistant reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from clawmem.app.interfaces.mcp.schemas import Session
from clawmem.domain.briefing.packing import shortened

if TYPE_CHECKING:
    from clawmem.ports.sessions import Session as Sitting


def session_record(session: Sitting) -> Session:
    """A session, as the store has it."""
    kept = {name: value for name, value in asdict(session).items() if name in Session.model_fields}
    return Session(**{**kept, "files_changed": list(session.files_changed)})


def session_lines(sessions: Iterable[Session]) -> list[str]:
    """Sessions, a line each."""
    return [
        f"{one.id[:8]}  {one.started_at[:16]}  {'active' if one.ended_at is None else 'to ' + one.ended_at[:16]}"
        f"  {one.handoff_path or ''}  {shortened(' '.join(one.summary.split()), 100)}  {', '.join(one.files_changed[:5])}".rstrip()
        for one in sessions
    ]
