from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple


class Cursor(NamedTuple):
    """How far a reader of a transcript is: whole lines, the bytes they take, and prompts among them."""

    line: int = 0
    offset: int = 0
    turns: int = 0


class Sighting(NamedTuple):
    """
    One place where something was said that a document keeps.

    ``source`` names the sentence of one message, ``payload`` what it says, however it is set: two sightings
    of one payload say the same. ``origin`` is who said it, ``line`` counts lines of the transcript from 1,
    ``quote`` is the sentence, in its own words.
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
    What was taken from conversations, from where, and how far each of them is read.

    Part of the vault's transactions: a cursor that moves with the documents that were found before it stores
    nothing twice, however often the reader is killed.
    """

    def cursor(self, session_id: str, reader: str) -> Cursor:
        """How far *reader* is in a session's transcript; the beginning when it has read nothing."""
        ...

    def advance(self, session_id: str, reader: str, cursor: Cursor) -> None:
        """Remember how far *reader* is; backwards too, as when a transcript was cut."""
        ...

    def add(self, sighting: Sighting) -> bool:
        """
        Keep one sighting; whether it is new. Of a source that is known nothing changes.

        The document's ``duplicate_count`` becomes the number of its sightings.
        """
        ...

    def is_known(self, source: str) -> bool:
        """Whether this sentence of this message was captured before, whatever has become of it."""
        ...

    def earliest(self, payload: str, content_type: str, since: str = "") -> Sighting | None:
        """
        The first sighting of what is said, *since* (inclusive), whose document is served.

        By time, then by source.
        """
        ...

    def sightings(self, document_id: int) -> list[Sighting]:
        """Where a document was said, by time, then by source."""
        ...

    def count_as(self, document_id: int, times: int) -> None:
        """Let the document's ``duplicate_count`` be this, until its next sighting: it stands for what others held."""
        ...

    def forget(self, document_id: int) -> int:
        """
        Keep nothing of what was said that a document holds, neither quote nor payload; how many sightings it had.

        Their sources stay known: the same is not captured again from the same place.
        """
        ...


class Utility(NamedTuple):
    """How often a document was given unasked, and how often the conversation made use of it."""

    surfaced: int = 0
    referenced: int = 0


class RecallStats(NamedTuple):
    """
    What the times at which one document was surfaced come to.

    ``queries`` and ``days`` count different ones, ``negatives`` the times at which the conversation made no use of
    it. ``diversity`` and ``spacing`` lie in [0, 1]: see `clawmem.domain.lifecycle.recall`.
    """

    document_id: int
    recalls: int
    queries: int
    days: int
    negatives: int
    first_at: str
    last_at: str
    diversity: float
    spacing: float


class UsageStore(Protocol):
    """What became of documents that were given: accesses, and which were of use together."""

    def note(self, surfaced: Mapping[int, bool], at: str) -> None:
        """
        Documents were given, and those that say true were made use of.

        Each of those has one access more, at *at*; every pair of them was of use together once more. Ids that
        the vault does not know are left out.
        """
        ...

    def utility(self, document_id: int) -> Utility:
        """What is known of one document; nothing yet is zeros."""
        ...

    def partners(self, document_id: int) -> Mapping[int, int]:
        """The documents that were of use together with this one, and how often; most often first, then by id."""
        ...

    def put_recall_stats(self, stats: Iterable[RecallStats]) -> None:
        """Let these be the statistics of their documents; one that says no recalls is deleted."""
        ...

    def recall_stats(self) -> Mapping[int, RecallStats]:
        """The statistics of all documents that have any, by id; of what is not served any more, too."""
        ...
