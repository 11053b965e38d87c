"""Ports for sessions of users and agents: transcripts, the memories captured from them, and the documents used."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Session:
    """One session with the memory, open while ``ended_at`` is ``None``; ``handoff_path`` hands the work over."""

    id: str
    started_at: str
    ended_at: str | None = None
    handoff_path: str | None = None
    summary: str = ""
    files_changed: tuple[str, ...] = ()
    machine: str = ""


def session_key(session_id: str) -> str:
    """
    Return the part of file names that identifies a session: 16 hexadecimal digits of the SHA-256 of its whole id.

    Ids of sessions share long beginnings: the date in Hermes, the minute in Codex and OpenCode.
    """
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class SessionStore(Protocol):
    """Store of sessions by id. Times are in the format of records and are compared as text."""

    def save(self, session: Session) -> None:
        """Store a complete session, replacing any session with the same id."""

    def get(self, session_id: str) -> Session | None:
        """Return the session with this id, or ``None``."""

    def recent(self, limit: int, before: str | None = None) -> list[Session]:
        """Return up to *limit* sessions, those that began last (earlier than *before*) first, then by id."""

    def covering(self, moment: str) -> Session | None:
        """Return the session that contains *moment* (ends included), of several the one that began last, then by id."""


class Cursor(NamedTuple):
    """Read position in a transcript: the number of complete lines, their bytes, and the prompts among them."""

    line: int = 0
    offset: int = 0
    turns: int = 0


BEGINNING = Cursor()
FOLDER_READER, UNFINISHED = "update", Cursor(1)  # the cursor of a collection while its folder is read


class Speaker(StrEnum):
    """Speaker of a message. The output of a tool has no speaker."""

    USER = "user"
    ASSISTANT = "assistant"


class FileTouch(NamedTuple):
    """File that a tool accessed, and whether it was written."""

    path: str
    is_written: bool


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """
    One message as a user would count it, even if it spans several lines of the transcript.

    ``text`` is prose without reasoning, tool calls and text added by the client. An assistant's message may consist of
    file accesses only. ``prompt_id`` is the client's identifier of the prompt that the message belongs to, if any.
    """

    id: str
    line: int
    speaker: Speaker
    text: str
    at: str = ""
    files: tuple[FileTouch, ...] = ()
    prompt_id: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """
    Part of a transcript that was read: complete messages in order, from ``start`` to ``end``.

    ``sidechains`` are the messages of subagents. ``bad_lines`` counts lines that could not be parsed. The prompts of a
    beginning that was skipped are not counted in ``end``.
    """

    messages: tuple[TranscriptMessage, ...]
    end: Cursor
    sidechains: tuple[TranscriptMessage, ...] = ()
    bad_lines: int = 0
    start: Cursor = BEGINNING


class Transcripts(Protocol):
    """Reader of conversations recorded by an agent's client."""

    def read(self, path: str, since: Cursor = BEGINNING) -> TranscriptPart:
        """
        Read the transcript at *path* after *since*.

        A last line without a line break is left to the next call. A transcript without a line that ends at *since* was
        rewritten and is read from its beginning. Of more than 10 MB that are unread, only the last 10 MB are read. Raises
        InvalidInput for a path that is not absolute or no ``.jsonl``, and SourceUnreadable for a missing file, or one
        larger than 1 GB.
        """


class Sighting(NamedTuple):
    """
    One occurrence, in a conversation, of the statement that a document stores.

    ``source`` identifies the sentence within one message, ``payload`` the normalised statement. ``origin`` is the
    speaker, ``line`` the line of the transcript (from 1), and ``quote`` the sentence in its original wording.
    """

    source: str
    document_id: int
    payload: str
    content_type: str
    origin: str
    session_id: str
    message_id: str
    line: int
    quote: str
    seen_at: str


class CaptureStore(Protocol):
    """
    Sightings captured from conversations, and each reader's position in each transcript.

    Part of the vault's transactions: the cursor advances together with the documents found before it, so that nothing
    is stored twice when a reader is killed. Sightings are ordered by time, then by source.
    """

    def cursor(self, session_id: str, reader: str) -> Cursor:
        """Return the position of *reader* in a session's transcript, or the beginning if it has read nothing."""

    def advance(self, session_id: str, reader: str, cursor: Cursor) -> None:
        """Store the position of *reader*; it may move backwards, for example when a transcript was truncated."""

    def add(self, sighting: Sighting) -> bool:
        """Store one sighting, count it in the document's ``duplicate_count``, and return whether its source is new."""

    def is_known(self, source: str) -> bool:
        """Whether this sentence of this message was captured before, even if its document was deleted since."""

    def earliest(self, payload: str, content_type: str, since: str = "") -> Sighting | None:
        """Return the first sighting of *payload* not before *since* (inclusive) whose document is served."""

    def sightings(self, document_id: int) -> list[Sighting]:
        """Return the sightings of a document."""

    def count_as(self, document_id: int, times: int) -> None:
        """Set the document's ``duplicate_count`` until its next sighting, because it replaces other documents."""


class UsageStore(Protocol):
    """Use of documents after they were surfaced: accesses, and pairs of documents used together."""

    def note(self, used: Iterable[int], at: str) -> None:
        """Add an access at the time *at* to each of these known documents, and a joint use to each pair of them."""

    def partners(self, document_id: int) -> Mapping[int, int]:
        """Return the documents used together with this one and how often, most frequent first, then by id."""
