"""Notes stored when a client compacts a conversation: the state before it, and the summary after it."""

from __future__ import annotations

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.redacted_transcripts import without_secrets
from clawmem.app.services.capture.session import IsEcho, Session, said_first
from clawmem.domain.capture.compaction import MESSAGES, state_of, summary_part
from clawmem.domain.capture.notes import COLLECTION, summary_path
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.confidence import baseline
from clawmem.ports.captures import CaptureStore
from clawmem.ports.clock import Clock
from clawmem.ports.records import InactiveReason
from clawmem.ports.stores import LifecycleStores
from clawmem.ports.transcripts import Transcripts

CONTENT_TYPE = "handoff"
MOST_CHARACTERS = 20_000


class PrecompactExtract:
    """Extracts the state from the end of a transcript; the caller stores it."""

    def __init__(
        self, captures: CaptureStore, transcripts: Transcripts, *, is_echo: IsEcho = lambda sentence: False
    ) -> None:
        self._captures = captures
        self._transcripts = transcripts
        self._is_echo = is_echo

    def __call__(self, session: Session) -> str:
        """
        Return the Markdown for ``precompact-state.md``; empty when there is nothing to preserve.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
        """
        messages = self._transcripts.read(session.transcript, enough=MESSAGES).messages[-MESSAGES:]
        found = said_first(messages, self._captures, self._is_echo)
        return without_secrets(state_of(messages, found))


class CompactionSummary:
    """Stores the last summary of each session as a handoff, in addition to that of the session's end."""

    def __init__(
        self, vault: LifecycleStores, clock: Clock, *, is_echo: IsEcho = lambda sentence: False
    ) -> None:
        self._vault = vault
        self._clock = clock
        self._memories = Memories(vault, clock)
        self._is_echo = is_echo

    def __call__(self, session_id: str, summary: str) -> int:
        """
        Store the summary part of *summary*; return the id of its document.

        The id is 0 if there is nothing new, or if the document was forgotten on request.

        Raises:
            VaultError: nothing was stored.
        """
        told = summary_part(summary)[:MOST_CHARACTERS]
        lines = [line for line in told.splitlines() if not self._is_echo(line)]
        said = without_secrets("\n".join(lines)).strip()
        if not said:
            return 0
        title = f"Session {session_id[:8]} when its conversation was compacted"
        with self._vault.writing():
            return self._store(session_id, title, f"# {title}\n\n{said}\n")

    def _store(self, session_id: str, title: str, body: str) -> int:
        known, now = self._vault.sessions.get(session_id), iso_utc(self._clock.now_ms())
        path = summary_path(known.started_at if known else now, session_id)
        before = self._vault.documents.at(COLLECTION, path)
        if before is not None and before.inactive is InactiveReason.FORGOTTEN:
            return 0
        return self._memories.write(path, title, body, CONTENT_TYPE, baseline(CONTENT_TYPE), now)
