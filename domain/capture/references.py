"""Detection of documents that an answer refers to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clawmem.ports.records import Document
from clawmem.ports.sessions import Speaker, TranscriptMessage

SHORTEST_NAME = 4  # characters of a file name
SHORTEST_TITLE = 5


def is_referenced(document: Document, answer: str) -> bool:
    """
    Whether *answer* names *document*: its path, its file name (4 characters or more) or its title (5 or more).

    The comparison ignores case; a name inside a longer word does not count.
    """
    name = document.path.rpartition("/")[2]
    names = [document.display_path, document.path]
    names += [name] if len(name) >= SHORTEST_NAME else []
    names += [document.title] if len(document.title) >= SHORTEST_TITLE else []
    return any(_occurs(one, answer) for one in names if len(one) >= SHORTEST_NAME)


def answers_by_text(messages: Sequence[TranscriptMessage]) -> dict[str, str]:
    """Return the assistant's text in reply to each prompt, by the text of the prompt; of equal prompts the last one's."""
    answers: dict[str, list[str]] = {}
    prompt = None
    for message in messages:
        if message.speaker is Speaker.USER:
            prompt = message.text
            answers[prompt] = []
        elif prompt is not None:
            answers[prompt].append(message.text)
    return {prompt: "\n".join(texts) for prompt, texts in answers.items() if texts}


def answers_by_prompt(messages: Sequence[TranscriptMessage], before: str = "") -> dict[str, str]:
    """
    Return the assistant's text in reply to each prompt, by the prompt ids of the client.

    Text before the first prompt is attributed to the prompt *before*.
    """
    said: dict[str, list[str]] = {}
    prompt = before
    for message in messages:
        prompt = message.prompt_id or (prompt if message.speaker is Speaker.ASSISTANT else "")
        if prompt and message.speaker is Speaker.ASSISTANT:
            said.setdefault(prompt, []).append(message.text)
    return {name: "\n".join(texts) for name, texts in said.items()}


def _occurs(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
