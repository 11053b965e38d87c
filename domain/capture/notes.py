"""Notes captured from a conversation: their properties, their paths, their text and their origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from clawmem.domain.briefing.blocks import TITLE_CHARS, shortened
from clawmem.domain.capture.cues import REPORT, Kind, kind_of, sentences
from clawmem.domain.documents.names import OWN_COLLECTION
from clawmem.ports.sessions import TranscriptMessage, session_key

if TYPE_CHECKING:
    from clawmem.domain.knowledge.triples import Statement

COLLECTION = OWN_COLLECTION
OBSERVATIONS = "agent/observations"
SHORTEST, LONGEST = 10, 500  # characters of a sentence
CONTEXT_CHARS = 240


def confidence_of(kind: Kind, *, by_model: bool = False) -> float:
    """Return the confidence for *kind*: decisions 0.85 (by a model 0.90), antipatterns 0.75, others 0.80."""
    if kind is Kind.DECISION:
        return 0.90 if by_model else 0.85
    return 0.75 if kind is Kind.ANTIPATTERN else 0.80


def merge_window_ms(kind: Kind) -> int | None:
    """
    Return for how many milliseconds a statement repeated in equal words is stored in the same document.

    Half an hour; a week for antipatterns; ``None``, without limit, for decisions and preferences.
    """
    if kind in (Kind.DECISION, Kind.PREFERENCE):
        return None
    return (7 * 24 * 60 if kind is Kind.ANTIPATTERN else 30) * 60_000


@dataclass(frozen=True, slots=True)
class Note:
    """
    A statement to keep as a document.

    ``quote`` is a verbatim sentence of ``message``, ``context`` the questions to which it replies. ``facts``,
    ``narrative``, ``tags`` and ``statements`` come from a model and are empty if rules found the note.
    """

    kind: Kind
    title: str
    quote: str
    message: TranscriptMessage
    confidence: float
    context: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()

    @property
    def is_by_model(self) -> bool:
        """Whether a model wrote the note, which only quotes the message."""
        return bool(self.tags)


def notes_by_rules(messages: Sequence[TranscriptMessage]) -> Iterator[Note]:
    """
    Yield the sentences of *messages* that are worth a memory, in order.

    A repeated sentence of one kind is found once, and ten failures at most.
    """
    seen: set[tuple[Kind, str]] = set()
    failures = 0
    for place, message in enumerate(messages):
        before = (other for other in reversed(messages[max(0, place - 3) : place]) if other.text)
        other = next((other for other in before if other.speaker is not message.speaker), None)
        questions = (text for text in sentences(other.text if other else "") if text.endswith("?"))
        context = " ".join(questions)[:CONTEXT_CHARS]
        for sentence in sentences(REPORT.sub("", message.text)):
            kind = kind_of(sentence, message.speaker) if SHORTEST <= len(sentence) <= LONGEST else None
            failures += kind is Kind.ANTIPATTERN
            if kind is None or (kind, key := payload(sentence)) in seen:
                continue
            if kind is not Kind.ANTIPATTERN or failures <= 10:
                seen.add((kind, key))
                yield Note(kind, title_of(sentence), sentence, message, confidence_of(kind), context)


def payload(sentence: str) -> str:
    """Return the SHA-256 of *sentence* in lower case with collapsed blanks; duplicates have the same one."""
    return sha256(" ".join(sentence.lower().split()).encode("utf-8", "surrogatepass")).hexdigest()


def source(message_id: str, sentence: str) -> str:
    """Return the identity of *sentence* in its message, by which a repeated import recognises it."""
    return sha256(f"{message_id}\0{payload(sentence)}".encode("utf-8", "surrogatepass")).hexdigest()


def flat(text: str) -> str:
    """Return *text* on one line in lower case, without marks at its ends, for comparison."""
    return " ".join(text.lower().split()).strip(" .!;,\"'")


def title_of(sentence: str) -> str:
    """Return *sentence* without its full stop, cut between words to 80 characters."""
    return shortened(sentence.strip().rstrip("."), TITLE_CHARS)


def note_path(note: Note, session_id: str) -> str:
    """Return the path of a note in `COLLECTION`: ``agent/observations/<day>-<key of session>-<type>-<hash>.md``."""
    name = source(note.message.id, note.quote)[:8]
    return f"{OBSERVATIONS}/{_stem(note.message.at, session_id)}-{note.kind}-{name}.md"


def note_body(note: Note) -> str:
    """Return the Markdown of a note: its content, and the quoted sentence."""
    parts = [
        f"# {note.title}",
        note.narrative,
        "\n".join(f"- {fact}" for fact in note.facts),
        note.context and f"In answer to: {note.context}",
        f"> {note.quote}",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def handoff_path(at: str, session_id: str) -> str:
    """Return ``agent/handoffs/<day>-<key of session>.md``; the summary of a compacted one is ``…-compacted.md``."""
    return f"agent/handoffs/{_stem(at, session_id)}.md"


def session_name(session_id: str) -> str:
    """Return the id of a session as a title shows it: on one line, and cut to 60 characters with its key at the end."""
    name = " ".join(session_id.split())[:60]
    return name if name == session_id else f"{name}-{session_key(session_id)}".lstrip("-")


def _stem(at: str, session_id: str) -> str:
    return f"{at[:10] or 'undated'}-{session_key(session_id)}"
