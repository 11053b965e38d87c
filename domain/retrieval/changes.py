"""Sentences by which a note says that something changed: "As of June it is Rust, Go no longer"."""

from __future__ import annotations

import re
from collections.abc import Collection

from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.text.likeness import is_same_word
from clawmem.domain.text.vocabulary import MONTHS, any_of

# Words of the question and of the older passage that the sentence has at least, one of them of the question. Half of the
# question's words are enough, if they are two.
SHARED, ASKED = 3, 2
_REACH = 300  # characters of the sentence before and after the marker

CHANGE = re.compile(
    rf"""
    \b(?:as\s+of|no\s+longer|any\s?more|instead|in\s+the\s+end|moved\s+to|changed\s+to|now|from\s+(?:[\w']+\s+){{1,4}}on
    | nicht\s+mehr|statt(?:dessen)?|doch\s+nicht|am\s+ende|umgezogen|geändert|jetzt|nun|ab\s+(?:sofort|{any_of(MONTHS)}))\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_END = re.compile(r"[.!?](?=\s)|\n")


def states_change(body: str, topic: Collection[str], older: str) -> bool:
    """
    Whether a sentence of *body* has a marker of change and is about the subject of a passage of an older note.

    Args:
        body: Text of the newer note.
        topic: Content words of the question.
        older: Passage of the older note that answers the question.
    """
    known = frozenset(content_words(older))
    for marker in CHANGE.finditer(body):
        before = body[max(0, marker.start() - _REACH) : marker.start()]
        after = body[marker.start() : marker.end() + _REACH]
        sentence = content_words(_END.split(before)[-1] + _END.split(after, 1)[0])
        asked = [word for word in topic if _has(sentence, word)]
        also = [word for word in sentence if word in known and not _has(asked, word)]
        is_topic = len(asked) >= min(ASKED, len(topic)) and 2 * len(asked) >= len(topic)
        if asked and (is_topic or len(asked) + len(also) >= SHARED):
            return True
    return False


def _has(words: Collection[str], word: str) -> bool:
    return any(is_same_word(word, other) for other in words)
