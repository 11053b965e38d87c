"""Notes captured from a conversation: their properties, their paths, their text and their origin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clawmem.domain.briefing.packing import shortened
from clawmem.domain.capture.cues import CaptureFinding, Kind, source
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.ports.sessions import TranscriptMessage, session_key

if TYPE_CHECKING:
    from clawmem.domain.knowledge.triples import Statement

COLLECTION = OWN_COLLECTION
OBSERVATIONS = "agent/observations"
HANDOFFS = "agent/handoffs"
TITLE_CHARS = 80
HALF_HOUR_MS, WEEK_MS = 30 * 60_000, 7 * 86_400_000
_LOCAL = re.compile(
    r"\b(?:this|diese[mrs]?) (?:repo|repository|project|codebase|workspace|projekt)\b", re.IGNORECASE
)
_NAME_CHARS = 60
_HASH_CHARS = 8
_DAY_CHARS = 10


def confidence_of(kind: Kind, *, by_model: bool = False) -> float:
    """Return the confidence for *kind*: decisions 0.85 (by a model 0.90), antipatterns 0.75, others 0.80."""
    if kind is Kind.DECISION:
        return 0.90 if by_model else 0.85
    return 0.75 if kind is Kind.ANTIPATTERN else 0.80


def merge_window_ms(kind: Kind) -> int | None:
    """
    Return for how many milliseconds a repeated statement is stored in the same document.

    Half an hour; a week for antipatterns; ``None``, without limit, for decisions and preferences. Only equal words are
    merged: a sentence with "won't" or another number is as similar to its opposite as a paraphrase is.
    """
    if kind in (Kind.DECISION, Kind.PREFERENCE):
        return None
    return WEEK_MS if kind is Kind.ANTIPATTERN else HALF_HOUR_MS


@dataclass(frozen=True, slots=True)
class Note:
    """
    A statement to keep as a document.

    ``quote`` is a verbatim sentence of ``message``. ``facts``, ``narrative``, ``tags`` and ``statements`` come from a
    model and are empty if rules found the note.
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


def note_of(finding: CaptureFinding) -> Note:
    """Return a finding of the rules as a note: the sentence is both title and quote."""
    kind, sentence = finding.kind, finding.sentence
    return Note(kind, title_of(sentence), sentence, finding.message, confidence_of(kind), finding.context)


def title_of(sentence: str) -> str:
    """Return *sentence* without its full stop, cut between words to 80 characters."""
    return shortened(sentence.strip().rstrip("."), TITLE_CHARS)


def is_local(sentence: str) -> bool:
    """Whether *sentence* speaks of the project in which it is said: "in this repository"."""
    return _LOCAL.search(sentence) is not None


def note_path(note: Note, session_id: str) -> str:
    """Return the path of a note in `COLLECTION`: ``agent/observations/<day>-<key of session>-<type>-<hash>.md``."""
    name = source(note.message.id, note.quote)[:_HASH_CHARS]
    return f"{OBSERVATIONS}/{_stem(note.message.at, session_id)}-{note.kind}-{name}.md"


def note_body(note: Note, place: str) -> str:
    """Return the Markdown of a note: its content, the quoted sentence, and the *place* of the quote."""
    parts = [
        f"# {note.title}",
        note.narrative,
        "\n".join(f"- {fact}" for fact in note.facts),
        note.context and f"In answer to: {note.context}",
        f"> {note.quote}",
        f"Said by the {note.message.speaker} in {place}.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def handoff_path(at: str, session_id: str) -> str:
    """Return the path of a session's handoff: ``agent/handoffs/<day>-<key of session>.md``."""
    return f"{HANDOFFS}/{_stem(at, session_id)}.md"


def summary_path(at: str, session_id: str) -> str:
    """Return the path of a compacted session's summary, next to its handoff: ``…-compacted.md``."""
    return f"{HANDOFFS}/{_stem(at, session_id)}-compacted.md"


def handoff_title(session_id: str) -> str:
    """Return the title of a session's handoff."""
    return f"Handoff of session {_session_name(session_id)}"


def summary_title(session_id: str) -> str:
    """Return the title of a compacted session's summary."""
    return f"Session {_session_name(session_id)} when its conversation was compacted"


def _session_name(session_id: str) -> str:
    """Return the id of a session as a title shows it: on one line, and cut to 60 characters with its key at the end."""
    name = " ".join(session_id.split())[:_NAME_CHARS]
    return name if name == session_id else f"{name}-{session_key(session_id)}".lstrip("-")


def _stem(at: str, session_id: str) -> str:
    return f"{at[:_DAY_CHARS] or 'undated'}-{session_key(session_id)}"
