"""Whether an answer made use of a document that its author had before them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clawmem.ports.records import Document
from clawmem.ports.transcripts import Speaker, TranscriptMessage

SHORTEST_NAME = 4  # characters of a file name
SHORTEST_TITLE = 5


def is_referenced(document: Document, answer: str) -> bool:
    """
    Whether *answer* names *document*: its path, its file name (4 characters or more) or its title (5 or more).

    Case does not matter; a name within a longer word is not meant.
    """
    name = document.path.rpartition("/")[2]
    names = [document.display_path, document.path]
    names += [name] if len(name) >= SHORTEST_NAME else []
    names += [document.title] if len(document.title) >= SHORTEST_TITLE else []
    return any(_occurs(one, answer) for one in names if len(one) >= SHORTEST_NAME)


def answers_by_turn(messages: Sequence[TranscriptMessage], first_turn: int) -> dict[int, str]:
    """
    What the assistant said in each turn. A prompt begins a turn; the first in *messages* begins *first_turn*,
    and what stands before it belongs to the turn before.
    """
    said: dict[int, list[str]] = {}
    turn = first_turn - 1
    for message in messages:
        if message.speaker is Speaker.USER:
            turn += 1
        else:
            said.setdefault(turn, []).append(message.text)
    return {turn: "\n".join(texts) for turn, texts in said.items()}


def answers_by_prompt(messages: Sequence[TranscriptMessage], before: str = "") -> dict[str, str]:
    """
    What the assistant said to each prompt, by the client's names of them.

    What stands before the first prompt answers the one called *before*.
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
