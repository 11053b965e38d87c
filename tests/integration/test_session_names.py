"""Handoffs of sessions whose ids begin alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_world import World
from wired import session_cases

from clawmem.adapters.memory.clock import ManualClock
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

# Two sessions that begin within one minute, as each client names them.
SESSIONS = {
    "Claude Code": ("5f0c7d1e-93a4-4c55-8f0b-2a6f1f0e77aa", "5f0c7d1e-0b2d-4e19-9d3c-61c0a8f4bb02"),
    "Codex": ("019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071", "019a2b3c-9f01-7a22-b3c4-d5e6f7081929"),
    "OpenCode": ("ses_4b2c1d0e5ffeAbCdEfGhIjKlMn", "ses_4b2c1d0e5ffeabcdefghijklmn"),
    "Gemini CLI": ("b5a0c1d2-1111-4222-8333-444455556666", "b5a0c1d2-1111-4222-8333-444455557777"),
    "Hermes": ("20260501_143022_a1b2c3", "20260501_143029_d4e5f6"),
    "OpenClaw": ("agent:main:first", "agent-main-first"),
}
both = pytest.mark.parametrize("sessions", SESSIONS.values(), ids=SESSIONS)
STATEMENTS = ("We'll use Postgres for the ledger.", "We'll use Redis for the queue.")


@pytest.fixture
def world(vault: Vault, clock: ManualClock, tmp_path: Path) -> World:
    return World(vault, clock, tmp_path)


def handoffs(world: World) -> dict[str, Document]:
    """Return the served handoffs by their text."""
    return {world.vault.documents.body(one.id) or "": one for one in world.kept() if one.inactive is None}


@both
def test_two_sessions_of_one_minute_leave_two_handoffs(world: World, sessions: tuple[str, str]) -> None:
    """Each has the words, the title and the path of its own session; one that resumes later rewrites its own."""
    hand_over = session_cases(world.vault, world.clock).session_capture().hand_over
    for session_id, statement in zip(sessions, STATEMENTS, strict=True):
        hand_over(world.session(session_id, ("user", statement), ("assistant", "Fine.")))

    world.clock.advance(3 * 86_400_000)
    hand_over(world.session(sessions[0], ("user", "We'll keep closed ledgers for ten years.")))

    found = handoffs(world)
    assert len(found) == 2
    for session_id, statement, other in zip(sessions, STATEMENTS, reversed(STATEMENTS), strict=True):
        [(body, document)] = [item for item in found.items() if statement in item[0]]
        assert other not in body
        assert document.title == f"Handoff of session {session_id}"
        entry = world.vault.sessions.get(session_id)
        assert entry and entry.handoff_path == document.display_path
        assert ("ten years" in body) == (session_id == sessions[0])
