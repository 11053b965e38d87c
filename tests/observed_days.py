"""A vault, and observations that were made on one day after the other."""

from __future__ import annotations

from collections.abc import Callable

from vault_stores import retrieval_stores
from wired import consolidation, memory_writer

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.app.services.capture.session import Session
from clawmem.app.services.maintenance.phase_run import PhaseRun, Verdict
from clawmem.app.services.retrieval.pipelines import search
from clawmem.app.services.retrieval.request import read_request
from clawmem.contracts.samples import fetch
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import Note
from clawmem.domain.maintenance.contradiction_gate import Policy
from clawmem.ports.records import InactiveReason
from clawmem.ports.sessions import Speaker, TranscriptMessage
from clawmem.ports.vault import Vault

NOW_MS = 1_700_000_000_000
DAY_MS = 86_400_000


def merged(run: PhaseRun) -> list[int]:
    """Return the ids of the documents that a run made from observations."""
    return [decision["made"] for decision in run.decided(Verdict.MERGE)]


class World:
    """A vault, and observations that were made on one day after the other."""

    def __init__(self, vault: Vault) -> None:
        self.vault, self.clock = vault, ManualClock(NOW_MS)

    def observe(self, text: str, kind: Kind = Kind.OBSERVATION) -> int:
        self.clock.advance(DAY_MS)
        at = f"2023-11-{15 + len(self.vault.documents.latest()):02}T10:00:00.000Z"
        message = TranscriptMessage(f"m{self.clock.now_ms()}", 1, Speaker.USER, text, at)
        note = Note(kind, text, text, message, 0.8)
        with self.vault.transactions.writing():
            return memory_writer(self.vault, self.clock).keep(note, Session("session-one", "")).document_id

    def consolidate(
        self,
        answer: Callable[[str], str] | None = None,
        policy: Policy = Policy.LINK,
        *,
        dry_run: bool = False,
    ) -> PhaseRun:
        generator = ScriptedGenerator(answer) if answer else None
        work = consolidation(self.vault, self.clock, generator, policy=policy)
        return work(self.vault.documents.latest(), PhaseRun(dry_run=dry_run))

    def restore(self, document_id: int) -> list[int]:
        return [one.id for one in consolidation(self.vault, self.clock).restore(document_id, "cli", "wrong")]

    def found(self, query: str) -> list[str]:
        request = read_request(query, now_ms=self.clock.now_ms())
        return [
            result.document.display_path for result in search(retrieval_stores(self.vault))(request).results
        ]

    def reason(self, document_id: int) -> InactiveReason | None:
        return fetch(self.vault, document_id).inactive
