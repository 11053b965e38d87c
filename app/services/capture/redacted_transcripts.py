"""Transcripts without secrets."""

from __future__ import annotations

from dataclasses import replace

from clawmem.ports.captures import Cursor
from clawmem.ports.transcripts import BEGINNING, TranscriptMessage, TranscriptPart, Transcripts


class RedactedTranscripts:
    """
    Wrapper of transcripts that redacts secrets for all later steps.

    Messages are redacted together: "the password is" may end one message, and the next one be the password.
    """

    def __init__(self, transcripts: Transcripts) -> None:
        self._transcripts = transcripts

    def read(self, path: str, since: Cursor = BEGINNING, *, enough: int = 4) -> TranscriptPart:
        """Read like `Transcripts.read`, and redact the messages."""
        part = self._transcripts.read(path, since, enough=enough)
        return replace(part, messages=_redacted(part.messages), sidechains=_redacted(part.sidechains))


def _redacted(messages: tuple[TranscriptMessage, ...]) -> tuple[TranscriptMessage, ...]:
    from clawmem.domain.security.redaction import redact_parts

    texts = redact_parts([message.text for message in messages])
    return tuple(
        replace(message, text=text) if text != message.text else message
        for message, text in zip(messages, texts, strict=True)
    )


def without_secrets(text: str) -> str:
    """Return *text* with its secrets redacted."""
    from clawmem.domain.security.redaction import redact

    return redact(text).text
