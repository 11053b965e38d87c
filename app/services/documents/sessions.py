"""Sessions as known at a given time."""

from __future__ import annotations

from itertools import islice

from clawmem.domain.capture.handoff import is_empty
from clawmem.domain.capture.notes import COLLECTION
from clawmem.ports.sessions import Session, SessionStore
from clawmem.ports.vault import Vault

LOOKED_AT = 50  # sessions among which those with an outcome are searched


def latest_sessions(store: SessionStore, limit: int, before: str | None = None) -> list[Session]:
    """
    Return the latest sessions by start, newest first; with *before* as known at that time.

    For a session that continued after *before* only its start is known, as its outcome was written at its end.
    """
    return [as_known(session, before) for session in store.recent(limit, before)]


def sessions_with_outcome_first(vault: Vault, limit: int, before: str | None = None) -> list[Session]:
    """
    Return the latest sessions, those with a served, non-empty handoff first, each group newest first.

    A session that just began, or had no outcome, therefore does not hide the last one with an outcome.
    """
    found = latest_sessions(vault.sessions, max(limit, LOOKED_AT), before)
    ranked = sorted(found, key=lambda session: not _has_outcome(vault, session))
    return list(islice(ranked, max(limit, 0)))


def _has_outcome(vault: Vault, session: Session) -> bool:
    path = (session.handoff_path or "").removeprefix(f"{COLLECTION}/")
    document = vault.documents.at(COLLECTION, path) if path else None
    if document is None or document.inactive is not None:
        return False
    return not is_empty(vault.documents.body(document.id) or "")


def as_known(session: Session, before: str | None) -> Session:
    """Return *session* as known before a time; unchanged without one."""
    if before is None or (session.ended_at is not None and session.ended_at < before):
        return session
    return Session(session.id, session.started_at, machine=session.machine)
