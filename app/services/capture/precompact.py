"""What a conversation should keep in mind when it is about to be shortened."""

from __future__ import annotations

from clawmem.app.services.capture.session import IsEcho, Redact, Session
from clawmem.domain.capture.precompact import MESSAGES, state_of
from clawmem.ports.transcripts import Transcripts


class PrecompactExtract:
    """Reads the end of a transcript; what it says is the caller's to write down."""

    def __init__(
        self,
        transcripts: Transcripts,
        *,
        redact: Redact = str,
        is_echo: IsEcho = lambda sentence: False,
    ) -> None:
        self._transcripts = transcripts
        self._redact = redact
        self._is_echo = is_echo

    def __call__(self, session: Session) -> str:
        """
        The Markdown for ``precompact-state.md``; empty when there is nothing to keep.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
        """
        part = self._transcripts.read(session.transcript, enough=MESSAGES)
        said = [one for one in part.messages if not self._is_echo(one.text)]
        return self._redact(state_of(said))
