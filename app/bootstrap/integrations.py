"""Services for other programs: issue trackers, OpenClaw, and the stores of memory tools that can be imported."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from clawmem.adapters.beads.tracker import BeadsTracker
from clawmem.adapters.imports.stores import STORES
from clawmem.adapters.sqlite.agent_sessions import OpenClawSessions
from clawmem.app.services.capture.session import RedactedTranscripts
from clawmem.app.services.issues import SyncIssues
from clawmem.app.services.openclaw import AgentMemory, AgentSources, SaveSession

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.imports import ForeignStore


def issue_sync(services: Services) -> SyncIssues:
    """Return the service that makes documents of the issues of a project, and enriches new ones by rules."""

    def enrich(numbers: Collection[int]) -> object:
        return services.enrich(with_model=False)(only=numbers)

    return SyncIssues(services.vault, services.clock, BeadsTracker(services.settings.home), enrich)


def agent_memory(services: Services, sources: AgentSources, state: str, agent: str) -> AgentMemory:
    """Return the memory of *agent* in the opened vault; its sessions are below *state*, the folder of OpenClaw."""
    files, sessions = services.adapters.files, OpenClawSessions(state, agent)
    return AgentMemory(services.vault, sources, services.update_from, files, sessions)


def save_session(services: Services) -> SaveSession:
    """Return the service that saves the end of a session as a note of its workspace."""
    adapters, transcripts = services.adapters, RedactedTranscripts(services.adapters.transcripts)
    return SaveSession(transcripts, adapters.files, adapters.new_files, services.clock)


TOOLS = tuple(STORES)


def foreign_store(tool: str) -> ForeignStore:
    """Return the reader of the stores of *tool*, one of `TOOLS`."""
    return STORES[tool]
