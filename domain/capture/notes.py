"""Notes captured from a conversation: their paths, their text and their origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clawmem.domain.capture.extraction import CaptureFinding, source
from clawmem.domain.capture.kinds import Kind, confidence_of, content_type_of, merge_window_ms
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.ports.sessions import TranscriptMessage, session_key

if TYPE_CHECKING:
    from clawmem.domain.knowledge.triples import Statement

COLLECTION = OWN_COLLECTION
OBSERVATIONS = "agent/observations"
HANDOFFS = "agent/handoffs"
TITLE_CHARS = 80
_ELLIPSIS = "…"
_IN_ANSWER = "In answer to: "
_SESSION_CHARS = 8
_NAME_CHARS = 60
_HASH_CHARS = 8
_DAY_CHARS = 10


@dataclass(frozen=True, slots=True)
class Note:
    """
    A statement to keep as a document.

    ``quote`` is a verbatim sentence of ``message``. ``facts``, ``narrative``, ``tags`` and ``statements`` come from a
    model and are empty if rules found the note. ``kind`` determines its content type and how long a repetition
    counts as a duplicate.
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
    is_observation: bool = False  # its type is not a `Kind`, so it is stored as an observation

    @property
    def content_type(self) -> str:
        """The content type of the note's document."""
        return "observation" if self.is_observation else content_type_of(self.kind)

    @property
    def merge_window_ms(self) -> int | None:
        """The merge window of the note, as by `clawmem.domain.capture.kinds.merge_window_ms`."""
        return merge_window_ms(Kind.QUESTION if self.is_observation else self.kind)


def note_of(finding: CaptureFinding) -> Note:
    """Return a finding of the rules as a note: the sentence is both title and quote."""
    sentence = finding.sentence
    return Note(
        finding.kind,
        title_of(sentence),
        sentence,
        finding.message,
        confidence_of(finding.kind),
        finding.context,
    )


def title_of(sentence: str) -> str:
    """Return *sentence* without its full stop, cut between words to 80 characters."""
    flat = sentence.strip().rstrip(".")
    if len(flat) <= TITLE_CHARS:
        return flat
    return flat[: TITLE_CHARS - 1].rpartition(" ")[0].rstrip(",;:") + _ELLIPSIS


def note_path(note: Note, session_id: str) -> str:
    """Return the path of a note in `COLLECTION`: ``agent/observations/<day>-<key of session>-<type>-<hash>.md``."""
    name = source(note.message.id, note.quote)[:_HASH_CHARS]
    return f"{OBSERVATIONS}/{_stem(note.message.at, session_id)}-{note.content_type}-{name}.md"


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


def note_body(note: Note, session_id: str) -> str:
    """Return the Markdown of a note: its content, the quoted sentence, and the origin of the quote."""
    parts = [f"# {note.title}"]
    if note.narrative:
        parts.append(note.narrative)
    if note.facts:
        parts.append("\n".join(f"- {fact}" for fact in note.facts))
    if note.context:
        parts.append(f"{_IN_ANSWER}{note.context}")
    parts += [f"> {note.quote}", _said(note.message, session_id)]
    return "\n\n".join(parts) + "\n"


def _said(message: TranscriptMessage, session_id: str) -> str:
    day = f" on {message.at[:_DAY_CHARS]}" if message.at else ""
    short = session_id[:_SESSION_CHARS]
    return f"Said by the {message.speaker} in session {short}, transcript line {message.line}{day}."


def _session_name(session_id: str) -> str:
    """Return the id of a session as a title shows it: on one line, and cut to 60 characters with its key at the end."""
    name = " ".join(session_id.split())[:_NAME_CHARS]
    return name if name == session_id else f"{name}-{session_key(session_id)}".lstrip("-")


def _stem(at: str, session_id: str) -> str:
    day = at[:_DAY_CHARS] or "undated"
    return f"{day}-{session_key(session_id)}"
