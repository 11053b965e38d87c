from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol


class Cursor(NamedTuple):
    """Read position in a transcript: the number of complete lines, their bytes, and the prompts among them."""

    line: int = 0
    offset: int = 0
    turns: int = 0


class Sighting(NamedTuple):
    """
    One occurrence, in a conversation, of the statement that a document stores.

    ``source`` identifies the sentence within one message. ``payload`` identifies the normalised statement:
    two sightings with the same payload state the same thing. ``origin`` is the speaker, ``line`` the line of
    the transcript (from 1), and ``quote`` the sentence in its original wording.
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

    Part of the vault's transactions: because the cursor advances in the same transaction as the documents
    found before it, nothing is stored twice, however often the reader is killed.
    """

    def cursor(self, session_id: str, reader: str) -> Cursor:
        """Return the position of *reader* in a session's transcript, or the beginning if it has read nothing."""

    def advance(self, session_id: str, reader: str, cursor: Cursor) -> None:
        """Store the position of *reader*; it may move backwards, for example when a transcript was truncated."""

    def add(self, sighting: Sighting) -> bool:
        """
        Store one sighting and set the document's ``duplicate_count`` to the number of its sightings.

        Returns:
            Whether the sighting is new. A sighting with a known source changes nothing.
        """

    def is_known(self, source: str) -> bool:
        """Whether this sentence of this message was captured before, even if its document was deleted since."""

    def earliest(self, payload: str, content_type: str, since: str = "") -> Sighting | None:
        """
        Return the first sighting of *payload* that is not before *since* (inclusive) and whose document is
        served.

        Sightings are ordered by time, then by source.
        """

    def sightings(self, document_id: int) -> list[Sighting]:
        """Return the sightings of a document, by time, then by source."""

    def count_as(self, document_id: int, times: int) -> None:
        """Set the document's ``duplicate_count`` until its next sighting, because it replaces other documents."""

    def forget(self, document_id: int) -> int:
        """
        Clear the quotes and payloads of a document's sightings.

        The sources stay known, so the same sentence is not captured again from the same place.

        Returns:
            The number of the document's sightings.
        """


class RecallStats(NamedTuple):
    """
    Statistics over the times at which one document was surfaced.

    ``queries`` and ``days`` count distinct values; ``negatives`` counts the times at which the conversation
    did not use the document. ``diversity`` and ``spacing`` are in [0, 1]: see
    `clawmem.domain.lifecycle.recall`.
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
    """Use of documents after they were surfaced: accesses, and pairs of documents used together."""

    def note(self, used: Iterable[int], at: str) -> None:
        """
        Record that the conversation used documents.

        Each document gets one more access, at *at*; each pair of them gets one more joint use.
        Ids that the vault does not know are ignored.
        """

    def partners(self, document_id: int) -> Mapping[int, int]:
        """Return the documents used together with this one and how often, most frequent first, then by id."""

    def put_recall_stats(self, stats: Iterable[RecallStats]) -> None:
        """Replace the statistics of these documents; an entry with zero recalls deletes them."""

    def recall_stats(self) -> Mapping[int, RecallStats]:
        """Return the statistics of all documents that have any, by id, including inactive documents."""
