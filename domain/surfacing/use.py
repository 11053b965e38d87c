"""Use of surfaced documents: the answer to a prompt, and whether it names a document."""

import re
from collections.abc import Iterable
from itertools import takewhile

from clawmem.domain.text.words import query_hash
from clawmem.ports.records import Document
from clawmem.ports.sessions import Speaker, TranscriptMessage
from clawmem.ports.telemetry import Recall


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
