"""State of a conversation to preserve when it is about to be compacted."""

from __future__ import annotations

from clawmem.app.services.capture.session import IsEcho, Redact, Session, said_first
from clawmem.domain.capture.precompact import MESSAGES, state_of
from clawmem.ports.captures import CaptureStore
from clawmem.ports.transcripts import Transcripts


class PrecompactExtract:
    """Extracts the state from the end of a transcript; the caller stores it."""

    def __init__(
        self,
        captures: CaptureStore,
        transcripts: Transcripts,
        *,
        redact: Redact = str,
        is_echo: IsEcho = lambda sentence: False,
    ) -> None:
        self._captures = captures
        self._transcripts = transcripts
        self._redact = redact
        self._is_echo = is_echo

    def __call__(self, session: Session) -> str:
        """
        Return the Markdown for ``precompact-state.md``; empty when there is nothing to preserve.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
        """
        messages = self._transcripts.read(session.transcript, enough=MESSAGES).messages[-MESSAGES:]
        found = said_first(messages, self._captures, self._redact, self._is_echo)
        return self._redact(state_of(messages, found))
