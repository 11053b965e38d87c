"""Diary of agents: entries are documents, written once and read newest first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count

from clawmem.app.services.capture.memories import Memories
from clawmem.domain.capture.notes import COLLECTION, TITLE_CHARS
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document, Scope, one_line
from clawmem.ports.storage import Transactions

FOLDER = "diary"
CONFIDENCE = 0.7
CONTENT_TYPE = "note"
AGENT = "agent"
TOPIC, TOPIC_CHARS = "general", 60
NAME_CHARS = 100  # of a writer or a topic
MOST_CHARACTERS = 100_000  # of an entry
LAST = 10


@dataclass(frozen=True)
class DiaryEntry:
    """An entry; ``agent`` is who wrote it."""

    id: int
    file: str
    title: str
    authored_at: str
    modified_at: str
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class Diary:
    """Entries in ``_clawmem/diary``; the domain of an entry names its agent."""

    documents: DocumentStore
    transactions: Transactions
    memories: Memories
    clock: Clock

    def write(self, entry: str, topic: str = TOPIC, agent: str = AGENT) -> Document:
        """
        Store *entry*, even if the same text was stored before.

        Raises:
            InvalidInput: the entry is blank, or the topic or the writer is no name on one line. VaultError: nothing was stored.
        """
        for part, name in (("topic", topic), ("agent", agent)):
            if one_line(name) != name:
                message = f"The {part} has a line break or a control character. Give a name on one line."
                raise InvalidInput("INVALID_INPUT", message)
        text = entry.strip()
        if not text:
            raise InvalidInput("INVALID_INPUT", "The entry is empty. Write what there is to remember.")
        title = " ".join(text.split())[:TITLE_CHARS]
        with self.transactions.writing():
            paths = (diary_path(self.clock.now_ms() + later, topic) for later in count())
            path = next(path for path in paths if self.documents.at(COLLECTION, path) is None)
            number = self.memories.write(path, title, text, CONTENT_TYPE, CONFIDENCE, domain=agent)
        return self.documents.many([number])[number]

    def read(self, last: int = LAST, agent: str = "") -> list[DiaryEntry]:
        """
        Return the newest *last* entries, of one agent or of all.

        Raises:
            InvalidInput: *last* is below 1.
        """
        if last < 1:
            raise InvalidInput("OUT_OF_BOUNDS", f"{last} entries cannot be read; choose 1 or more.")
        own = self.documents.latest(Scope(frozenset({COLLECTION})))
        entries = [note for note in own if note.path.startswith(f"{FOLDER}/") and agent in ("", note.domain)]
        newest = sorted(entries, key=lambda entry: entry.path, reverse=True)[:last]
        return [
            DiaryEntry(
                note.id,
                note.display_path,
                note.title,
                note.authored_at,
                note.modified_at,
                note.domain or "",
                self.documents.body(note.id) or "",
            )
            for note in newest
        ]


def diary_path(at_ms: int, topic: str) -> str:
    """
    Return the path ``diary/<YYYY-MM-DD>-<HHMMSSmmm>-<topic>.md``, in UTC.

    The topic keeps its letters and digits in lower case; every other run of characters becomes one hyphen, so the
    topic cannot name another folder.
    """
    day, _, clock = iso_utc(at_ms).partition("T")
    slug = re.sub(r"[^\w]+", "-", topic.lower()).strip("-_")[:TOPIC_CHARS].strip("-") or TOPIC
    return f"{FOLDER}/{day}-{''.join(filter(str.isdigit, clock))}-{slug}.md"
