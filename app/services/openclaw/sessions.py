"""Sessions of an agent as files of a collection."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clawmem.domain.openclaw.session_notes import SpokenMessage
from clawmem.domain.openclaw.sessions import SessionSize, is_session_due, session_text
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.agent_sessions import AgentSession, AgentSessions
from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.records import Document, Scan, SourceFile, SourceStamp
from clawmem.ports.stores import SearchableDocuments

ENDING = ".jsonl"  # as OpenClaw calls transcripts


class SessionFiles:
    """
    ``FileSource`` with a text for each session, without secrets.

    A session that is not due keeps its stamp, so that a pass leaves it alone; with *all_due* every changed one is read.
    ``fault`` says why the sessions could not be listed; then a pass keeps all of them.
    """

    def __init__(
        self, sessions: AgentSessions, vault: SearchableDocuments, collection: str, *, all_due: bool = False
    ) -> None:
        self._sessions = sessions
        self._vault = vault
        self._collection = collection
        self._all_due = all_due
        self.fault = ""

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        """See `clawmem.ports.files.FileSource.scan`. Without a readable record there is no root."""
        try:
            found = self._sessions.sessions()
        except SourceUnreadable as error:
            self.fault = str(error)
            return Scan((), root_exists=False)
        known = self._vault.documents.sources(self._collection)
        files = (self._file(one, known) for one in found)
        return Scan(tuple(one for one in files if one and wanted(one.path)))

    def read(self, root: str, path: str) -> bytes:
        messages = self._sessions.messages(path.removesuffix(ENDING)) if path.endswith(ENDING) else ()
        if not messages:
            raise SourceMissing(path, "there is no such session")
        texts = redact_parts([one.text for one in messages])
        said = [SpokenMessage(one.role, text) for one, text in zip(messages, texts, strict=True)]
        return session_text(said).encode("utf-8", "replace")

    def read_above(self, root: str, path: str, *, up_to: str) -> list[tuple[str, bytes]]:
        return []

    def _file(self, session: AgentSession, known: Mapping[str, Document]) -> SourceFile | None:
        path = f"{session.id}{ENDING}"
        document = known.get(path)
        indexed = self._indexed(document)
        current = SessionSize(session.size_bytes, session.messages)
        is_new = not document or not document.stamp
        due = (
            session.messages > 0 and current != indexed if self._all_due else is_session_due(indexed, current)
        )
        if document and document.stamp and (not due or not session.messages):
            return SourceFile(path, document.stamp)
        if is_new and not due:
            return None
        return SourceFile(path, SourceStamp(session.size_bytes, session.updated_ms * 1_000_000))

    def _indexed(self, document: Document | None) -> SessionSize | None:
        if document is None or document.stamp is None:
            return None
        return SessionSize(document.stamp.size, (self._vault.documents.body(document.id) or "").count("\n"))
