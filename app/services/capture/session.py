"""Sessions with agents: transcripts without secrets, and what a model answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from clawmem.domain.knowledge.llm_answer import ModelTask, json_answer
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.errors import ModelError
from clawmem.ports.models import Generator
from clawmem.ports.sessions import BEGINNING, Cursor, TranscriptMessage, TranscriptPart, Transcripts


@dataclass(frozen=True, slots=True)
class RedactedTranscripts:
    """
    Wrapper of transcripts that redacts secrets for all later steps.

    Messages are redacted together, so that a secret of one message is also found where another repeats it.
    """

    transcripts: Transcripts

    def read(self, path: str, since: Cursor = BEGINNING, *, latest: int = 0) -> TranscriptPart:
        """Read like `Transcripts.read`, and redact the messages; of more only the *latest*, which takes less time."""
        part = self.transcripts.read(path, since)
        messages, sidechains = (
            tuple(replace(message, text=text) for message, text in zip(group, texts, strict=True))
            for group in (part.messages[-latest:], part.sidechains[-latest:])
            for texts in [redact_parts([message.text for message in group])]
        )
        return replace(part, messages=messages, sidechains=sidechains)


def model_answer(generator: Generator, left: Callable[[], float], task: ModelTask, prompt: str) -> Any | None:
    """
    Return the model's answer to the *prompt* of a task, see `json_answer`; ``None`` also if the model fails.

    *left* returns the seconds until the work has to be done.
    """
    _, schema, temperature, most = task
    ask = partial(generator.generate, max_tokens=most, temperature=temperature, schema=schema)
    with suppress(ModelError):
        # A second is a reserve.
        return json_answer(lambda text: ask(text, timeout_s=max(0.0, left() - 1.0)), prompt, schema)
    return None


@dataclass(frozen=True, slots=True)
class Session:
    """
    A session with an agent: the client's session id, the absolute path of the transcript, its project and its folder.

    The project is the root of the git repository in which the session runs, else its folder; empty if it is unknown.
    """

    id: str
    transcript: str
    project: str = ""
    folder: str = ""


class UnreadMessages(NamedTuple):
    """
    The ``fresh`` messages of a transcript, those after ``seen``, and messages before it as context.

    ``part`` also has the messages of the previous call. ``stored`` is the cursor in the vault, which equals ``seen``
    unless the transcript was rewritten.
    """

    stored: Cursor
    seen: Cursor
    part: TranscriptPart
    fresh: tuple[TranscriptMessage, ...]
