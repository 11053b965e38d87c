"""Feedback: detection of the surfaced documents that an answer used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.capture.session import CursorConflict, Session, SessionReader, UnreadMessages
from clawmem.domain.capture.references import answers_by_prompt, answers_by_turn, is_referenced
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.errors import VaultError
from clawmem.ports.knowledge import Relation, RelationKind
from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall
from clawmem.ports.transcripts import Speaker, Transcripts
from clawmem.ports.vault import Vault

READER = "feedback-loop"


@dataclass(frozen=True, slots=True)
class Feedback:
    """Number of documents surfaced in the examined turns, and ids of those that were referenced."""

    surfaced: int = 0
    referenced: tuple[int, ...] = ()


class FeedbackLoop:
    """
    Compares each answer with the documents surfaced for its turn.

    A referenced document gets one more access, is marked in the telemetry, and is related by usage to the documents
    referenced in the same turn.
    """

    def __init__(self, vault: Vault, transcripts: Transcripts, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock
        self._reader = SessionReader(vault.captures, transcripts, READER)

    def __call__(self, session: Session) -> Feedback:
        """
        Process the new part of *session*.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
            VaultError: nothing was stored; the next call processes the same part again.
        """
        news = self._reader.news(session)
        if news is None:
            return Feedback()
        used = self._used(session, news)
        try:
            with self._vault.transactions.writing():
                self._reader.finish(session, news)
                for referenced in used.values():
                    self._learn(referenced)
        except CursorConflict:
            return Feedback()
        self._mark(used)
        found = [number for documents in used.values() for number, said in documents.items() if said]
        return Feedback(sum(map(len, used.values())), tuple(dict.fromkeys(found)))

    def _used(self, session: Session, news: UnreadMessages) -> dict[int, Mapping[int, bool]]:
        """Return by recall its documents, and whether the answer of its turn references each."""
        recalls = [one for one in self._vault.telemetry.of_session(session.id) if one.hits]
        answer_to = _answers(news, recalls)
        used: dict[int, Mapping[int, bool]] = {}
        for recall in recalls:
            if answer := answer_to(recall):
                documents = self._vault.documents.many(hit.document_id for hit in recall.hits)
                used[recall.id] = _judged(recall, documents, answer)
        return used

    def _learn(self, referenced: Mapping[int, bool]) -> None:
        at = iso_utc(self._clock.now_ms())
        ids = sorted(number for number, said in referenced.items() if said)
        self._vault.usage.note(ids, at)
        pairs = [(one, other) for one in ids for other in ids if one != other]
        self._vault.relations.put(
            Relation(one, other, RelationKind.USAGE, origin=READER, created_at=at) for one, other in pairs
        )

    def _mark(self, used: Mapping[int, Mapping[int, bool]]) -> None:
        # Marks in the telemetry are best effort; usage is stored already.
        for recall_id, documents in used.items():
            referenced = [number for number, said in documents.items() if said]
            with suppress(VaultError):
                self._vault.telemetry.mark_referenced(recall_id, referenced)


def _answers(news: UnreadMessages, recalls: list[Recall]) -> Callable[[Recall], str]:
    """
    Return a function for the answer to a recall: by the client's prompt id, or else by turn number.

    Turn numbers are wrong if a prompt was retracted, or if a session starts with the history of another one.
    """
    by_turn = answers_by_turn(news.fresh, _first_turn(news, recalls))
    if not any(message.prompt_id for message in news.messages):
        return lambda recall: by_turn.get(recall.turn_index, "")
    by_prompt = answers_by_prompt(news.fresh, _prompt_before(news))
    return lambda recall: (
        by_prompt.get(recall.prompt_id, "") if recall.prompt_id else by_turn.get(recall.turn_index, "")
    )


def _prompt_before(news: UnreadMessages) -> str:
    """Return the client's id of the prompt that the first new messages may still answer."""
    before = (message.prompt_id for message in reversed(news.messages) if message.line <= news.seen.line)
    return next(filter(None, before), "")


def _first_turn(news: UnreadMessages, recalls: list[Recall]) -> int:
    """
    Return the number, from 0, of the first prompt among the new messages.

    If the start of the transcript was skipped, it is counted back from the last recalled turn.
    """
    fresh = sum(message.speaker is Speaker.USER for message in news.fresh)
    if news.part.is_tail:
        return max((recall.turn_index for recall in recalls), default=0) - fresh + 1
    return news.part.end.turns - fresh


def _judged(recall: Recall, documents: Mapping[int, Document], answer: str) -> Mapping[int, bool]:
    new = (hit.document_id for hit in recall.hits if not hit.was_referenced)
    return {number: is_referenced(documents[number], answer) for number in new if number in documents}
