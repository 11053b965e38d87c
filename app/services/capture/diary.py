"""Diary of agents: entries are documents, written once and read newest first."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.session import without_secrets
from clawmem.app.services.indexing.publish import Publisher
from clawmem.domain.capture.diary import FOLDER, TOPIC, diary_path, diary_title
from clawmem.domain.capture.notes import COLLECTION
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document, Scope, one_line
from clawmem.ports.vault import Vault

CONFIDENCE = 0.7
CONTENT_TYPE = "note"
AGENT = "agent"
LAST = 10


class DiaryEntry(NamedTuple):
    """An entry as a document, and its text."""

    document: Document
    text: str


class Diary:
    """
    Writes and reads entries in ``_clawmem/diary``; the domain of an entry names its agent.
    """

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock
        self._memories = Memories(vault.captures, Publisher(vault), clock)

    def write(self, entry: str, topic: str = TOPIC, agent: str = AGENT) -> Document:
        """
        Store *entry*, even if the same text was stored before.

        Raises:
            InvalidInput: the entry is blank, or the topic or the writer is no name on one line. VaultError: nothing was stored.
        """
        _check_name("topic", topic)
        _check_name("agent", agent)
        text = without_secrets(entry.strip())
        if not text:
            raise InvalidInput("INVALID_INPUT", "The entry is empty. Write what there is to remember.")
        with self._vault.transactions.writing():
            path = self._free(without_secrets(topic))
            number = self._memories.write(
                path, diary_title(text), text, CONTENT_TYPE, CONFIDENCE, domain=agent
            )
        return self._vault.documents.many([number])[number]

    def read(self, last: int = LAST, agent: str = "") -> list[DiaryEntry]:
        """
        Return the newest *last* entries, of one agent or of all.

        Raises:
            InvalidInput: *last* is below 1.
        """
        if last < 1:
            raise InvalidInput("OUT_OF_BOUNDS", f"{last} entries cannot be read; choose 1 or more.")
        own = self._vault.documents.latest(Scope(frozenset({COLLECTION})))
        entries = [one for one in own if one.path.startswith(f"{FOLDER}/") and agent in ("", one.domain)]
        newest = sorted(entries, key=lambda one: one.path, reverse=True)[:last]
        return [DiaryEntry(one, self._vault.documents.body(one.id) or "") for one in newest]

    def _free(self, topic: str) -> str:
        """Return a path with the current millisecond, or the next one for which no entry exists."""
        moments = (diary_path(self._clock.now_ms() + later, topic) for later in count())
        return next(path for path in moments if self._vault.documents.at(COLLECTION, path) is None)


def _check_name(what: str, name: str) -> None:
    if one_line(name) != name:
        raise InvalidInput(
            "INVALID_INPUT", f"The {what} has a line break or a control character. Give a name on one line."
        )
