from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple


class RecallHit(NamedTuple):
    """
    One document that was given in answer: at which rank, from 1, and with which score of the door it came from.

    ``was_referenced`` says that the conversation afterwards made use of it.
    """

    document_id: int
    rank: int
    score: float
    was_referenced: bool = False


class Recall(NamedTuple):
    """
    One question that was answered at a door, and what it was given.

    ``query_hash`` tells questions apart; their text is not kept. ``verb`` is the command, or the name of the
    hook, that asked. ``degraded`` names the legs that were missing. ``id`` is 0 until it is stored. ``prompt_id`` is
    the client's name of the prompt, where it gave one.
    """

    asked_at: str
    verb: str
    query_hash: str
    took_ms: float
    limit: int
    degraded: tuple[str, ...] = ()
    hits: tuple[RecallHit, ...] = ()
    session_id: str | None = None
    turn_index: int = 0
    id: int = 0
    prompt_id: str = ""


class Telemetry(Protocol):
    """
    What was asked and what was given in answer: a diary that may have gaps, never a reason to fail or to wait.

    It stands outside of the vault's transactions: what one takes back stays written here. Documents are named
    by their ids, of which nothing is checked; one that is gone leaves its hits.
    """

    def record(self, recall: Recall, receipt: bytes | None = None) -> int:
        """
        Append a recall with its hits, all or nothing. May be called while the vault is open for reading only.

        A *receipt* is appended with it, under its id and time: see `clawmem.ports.receipts`.

        It survives the end of the process, not necessarily a power failure. Hits are kept by rank, each rank once.

        Returns:
            Its id, > 0, larger than those of the recalls that are kept.

        Raises:
            VaultLocked: somebody else is writing; that is not waited for longer than a few milliseconds.
            VaultReadOnly, VaultFull: the vault cannot be written at all.
        """
        ...

    def recalls(self, since: str | None = None, until: str | None = None) -> Iterator[Recall]:
        """
        What was asked from *since* (inclusive) until *until* (exclusive), oldest first, then by id; hits by rank.

        Both are times as recalls carry them; ``None`` leaves that side open. Nothing is read ahead: take it
        to the end before the next change.
        """
        ...

    def mark_referenced(self, recall_id: int, document_ids: Collection[int]) -> int:
        """
        The conversation made use of these documents of one recall; how many hits were not marked before.

        May be called while the vault is open for reading only. Ids that were not given say nothing.

        Raises:
            VaultLocked: somebody else is writing; that is not waited for longer than a few milliseconds.
            VaultReadOnly, VaultFull: the vault cannot be written at all.
        """
        ...

    def of_session(self, session_id: str) -> Iterator[Recall]:
        """What was asked in one session, as `recalls` gives it."""
        ...

    def count(self) -> int:
        """How many recalls are kept."""
        ...

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """
        Forget what was asked before *before* (exclusive), hits and receipts included; how many recalls went.

        May be called while the vault is open for reading only. When nothing is that old it writes nothing.

        Args:
            at_most: So many recalls, the oldest ones; the others wait for the next call. ``None``: all.

        Raises:
            VaultLocked: somebody else is writing; that is not waited for longer than a few milliseconds.
            VaultReadOnly, VaultFull: the vault cannot be written at all.
        """
        ...
