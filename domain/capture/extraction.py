"""Rule-based extraction of findings from conversations: decisions, preferences, problems, milestones, questions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clawmem.domain.capture.cues import kind_of
from clawmem.domain.capture.kinds import Kind
from clawmem.domain.capture.next_steps import is_label
from clawmem.domain.capture.preferences import ASKED, is_like
from clawmem.domain.capture.sentences import sentences
from clawmem.ports.sessions import Speaker, TranscriptMessage

SHORTEST = 5  # characters; "hugo then" is a decision, "ok" is not
LONGEST = 500
CONTEXT_CHARS = 240
MOST_FILES = 200
LOOK_BACK = 3  # messages that may present the options a user chooses from
CHOICE_WORDS = 12

_CHOICE = re.compile(
    r"\b(?:or|oder|which|whether|instead|either|versus|vs|simpler|options?)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]{3,}")
_COMMON = frozenset(
    "the and for you that this with not are was but can have has will would could should our your they them then "
    "one two all any use its there what which how when who does did let yes sure please thanks good great nice "
    "okay right looks perfect super also just der die das und ist nicht ein eine".split()
)
_REACTION = re.compile(
    r"^(?:do (?:that|it|both)|go(?: ahead)?|try|check|show|fix|please|can|thanks?|thank you|i (?:see|know|can|have|will|"
    r"think|don't know|neither)|no idea|why|we are|it's|that's|true|exactly|works|maybe|later|he|she|they)\b",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class CaptureFinding:
    """
    One sentence worth keeping, with its kind and the message that contains it.

    ``context`` is the text to which the sentence replies; empty if there is none.
    """

    kind: Kind
    sentence: str
    message: TranscriptMessage
    context: str = ""


def findings(messages: Sequence[TranscriptMessage]) -> Iterator[CaptureFinding]:
    """Yield the findings of *messages* in order; a repeated sentence of one kind is found once."""
    seen = set()
    for place, message in enumerate(messages):
        for finding in _of_message(message, messages[max(0, place - LOOK_BACK) : place]):
            said = (finding.kind, payload(finding.sentence))
            if said not in seen:
                seen.add(said)
                yield finding


def payload(sentence: str) -> str:
    """
    Return the identity of a sentence's content: SHA-256 of the text in lower case, blanks collapsed, as hex.

    Two sentences with the same digest are duplicates.
    """
    flat = _SPACES.sub(" ", sentence.lower()).strip()
    return hashlib.sha256(flat.encode("utf-8", "surrogatepass")).hexdigest()


def source(message_id: str, sentence: str) -> str:
    """Return the identity of *sentence* in its message, by which a repeated import recognises it."""
    return hashlib.sha256(f"{message_id}\0{payload(sentence)}".encode("utf-8", "surrogatepass")).hexdigest()


def files_written(messages: Sequence[TranscriptMessage]) -> list[str]:
    """Return the changed files, each once, in order of their first change; 200 at most."""
    return _files(messages, is_written=True)


def files_read(messages: Sequence[TranscriptMessage]) -> list[str]:
    """Return the files that were read but not changed, each once, in order of the first read; 200 at most."""
    written = set(files_written(messages))
    return [path for path in _files(messages, is_written=False) if path not in written]


def _files(messages: Sequence[TranscriptMessage], *, is_written: bool) -> list[str]:
    touched = (file for message in messages for file in message.files)
    return list(dict.fromkeys(file.path for file in touched if file.is_written is is_written))[:MOST_FILES]


def _of_message(message: TranscriptMessage, before: Sequence[TranscriptMessage]) -> Iterator[CaptureFinding]:
    for place, sentence in enumerate(sentences(message.text)):
        if not SHORTEST <= len(sentence) <= LONGEST or is_label(sentence):
            continue
        kind = kind_of(sentence, message.speaker)
        if kind is None and place == 0 and _is_choice(sentence, message, before):
            kind = Kind.DECISION
        if kind:
            yield CaptureFinding(kind, sentence, message, _context(kind, message, before))


def _is_choice(sentence: str, message: TranscriptMessage, before: Sequence[TranscriptMessage]) -> bool:
    """Whether a user's first sentence picks one of the options that the assistant has just presented."""
    laid_out = " ".join(one.text for one in before if one.speaker is Speaker.ASSISTANT)
    if message.speaker is not Speaker.USER or not _CHOICE.search(laid_out):
        return False
    if _REACTION.match(sentence) or is_like(ASKED, sentence):
        return False
    words = _content_words(sentence)
    return 0 < len(words) <= CHOICE_WORDS and 2 * len(words & _content_words(laid_out)) >= len(words)


def _content_words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in _COMMON}


def _context(kind: Kind, message: TranscriptMessage, before: Sequence[TranscriptMessage]) -> str:
    """Return what a statement replies to: of a user the last message, of an assistant the question that it decides."""
    if message.speaker is Speaker.USER:
        said = [*sentences(before[-1].text)] if before else []
        return " ".join(_asked(said) or said)[:CONTEXT_CHARS]
    if kind is not Kind.DECISION:
        return ""
    prompt = next((one.text for one in reversed(before) if one.speaker is Speaker.USER and one.text), "")
    return " ".join(_asked(sentences(prompt)))[:CONTEXT_CHARS]


def _asked(said: Iterable[str]) -> list[str]:
    return [sentence for sentence in said if sentence.endswith("?")]
