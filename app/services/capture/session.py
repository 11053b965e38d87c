"""Sessions with agents: transcripts without secrets, what a model answers, and the documents that answers used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from clawmem.app.services.retrieval.receipts import query_hash
from clawmem.domain.knowledge.llm_answer import ModelTask, json_answer
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.errors import ModelError
from clawmem.ports.models import Generator
from clawmem.ports.records import Document
from clawmem.ports.sessions import BEGINNING, Cursor, Speaker, TranscriptMessage, TranscriptPart, Transcripts
from clawmem.ports.telemetry import Recall


@dataclass(frozen=True, slots=True)
class RedactedTranscripts:
    """
    Wrapper of transcripts that redacts secrets for all later steps.

    Messages are redacted together, so that a secret of one message is also found where another repeats it.
    """

    transcripts: Transcripts

    def read(self, path: str, since: Cursor = BEGINNING) -> TranscriptPart:
        """Read like `Transcripts.read`, and redact the messages."""
        part = self.transcripts.read(path, since)
        messages, sidechains = (
            tuple(replace(message, text=text) for message, text in zip(group, texts, strict=True))
            for group in (part.messages, part.sidechains)
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


def is_referenced(document: Document, answer: str) -> bool:
    """
    Whether *answer* names *document*: its path, its file name (4 characters or more) or its title (5 or more).

    The comparison ignores case; a name inside a longer word does not count.
    """
    names = [document.display_path, document.path, document.path.rpartition("/")[2]]
    names += [document.title] if len(document.title) >= 5 else []
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", answer, re.IGNORECASE)
        for name in names
        if len(name) >= 4
    )


def answer_to(recall: Recall, messages: Iterable[TranscriptMessage]) -> str:
    """
    Return the assistant's answer to a recall: by the client's prompt id, or else by the prompt's text.

    Of equal texts the last prompt counts. What a hook gave without a prompt is answered by the rest of its turn.
    """
    if recall.verb.endswith("-inject") and not recall.prompt_id:
        later = (message for message in messages if message.at > recall.asked_at)
        of_turn = takewhile(lambda message: message.speaker is not Speaker.USER, later)
        return "\n".join(message.text for message in of_turn)
    texts: list[str] = []
    is_asked = False
    for message in messages:
        is_same = message.prompt_id == recall.prompt_id
        if message.speaker is Speaker.USER:
            is_asked = is_same if recall.prompt_id else query_hash(message.text) == recall.query_hash
            texts = [] if is_asked and not recall.prompt_id else texts
        elif is_same if recall.prompt_id and message.prompt_id else is_asked:
            texts.append(message.text)
    return "\n".join(texts)
