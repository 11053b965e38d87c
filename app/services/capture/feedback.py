"""Which of the documents that were surfaced an answer made use of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.capture.session import MovedOn, News, Session, SessionReader
from clawmem.domain.capture.references import answers_by_prompt, answers_by_turn, is_referenced
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.errors import VaultError
from clawmem.ports.records import Document
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.telemetry import Recall
from clawmem.ports.transcripts import Transcripts, turns
from clawmem.ports.vault import Vault

READER = "feedback-loop"


@dataclass(frozen=True, slots=True)
class Feedback:
    """How many documents were surfaced in the turns that were looked at, and which of them were referenced."""

    surfaced: int = 0
    referenced: tuple[int, ...] = ()


class FeedbackLoop:
    """
    Holds each answer against what was surfaced for its turn, and for no other.

    A referenced document counts one access more, is marked in the diary, and is related by use to those that
    were referenced in the same turn.
    """

    def __init__(self, vault: Vault, transcripts: Transcripts, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock
        self._reader = SessionReader(vault.captures, transcripts, READER)

    def __call__(self, session: Session) -> Feedback:
        """
        Learn from what is new in *session*.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
            VaultError: nothing was learnt; the next call finds the same again.
        """
        news = self._reader.news(session)
        if news is None:
            return Feedback()
        used = self._used(session, news)
        try:
            with self._vault.writing():
                self._reader.finish(session, news)
                for referenced in used.values():
                    self._learn(referenced)
        except MovedOn:
            return Feedback()
        self._mark(used)
        found = [number for documents in used.values() for number, said in documents.items() if said]
        return Feedback(sum(map(len, used.values())), tuple(dict.fromkeys(found)))

    def _used(self, session: Session, news: News) -> dict[int, Mapping[int, bool]]:
        """By recall: the documents it gave, and whether its turn's answer names them."""
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
        self._vault.usage.note(referenced, at)
        ids = sorted(number for number, said in referenced.items() if said)
        pairs = [(one, other) for one in ids for other in ids if one != other]
        self._vault.relations.put(
            Relation(one, other, RelationKind.USAGE, origin=READER, created_at=at) for one, other in pairs
        )

    def _mark(self, used: Mapping[int, Mapping[int, bool]]) -> None:
        # The diary may have gaps; what counts is stored already.
        for recall_id, documents in used.items():
            referenced = [number for number, said in documents.items() if said]
            with suppress(VaultError):
                self._vault.telemetry.mark_referenced(recall_id, referenced)


def _answers(news: News, recalls: list[Recall]) -> Callable[[Recall], str]:
    """
    What was said in the turn of a recall: by the client's name of its prompt, by its number where there is none.

    Numbers go wrong where a prompt was taken back, or a session begins with another one's history.
    """
    by_turn = answers_by_turn(news.fresh, _first_turn(news, recalls))
    if not any(message.prompt_id for message in news.messages):
        return lambda recall: by_turn.get(recall.turn_index, "")
    by_prompt = answers_by_prompt(news.fresh, _prompt_before(news))
    return lambda recall: (
        by_prompt.get(recall.prompt_id, "") if recall.prompt_id else by_turn.get(recall.turn_index, "")
    )


def _prompt_before(news: News) -> str:
    """What the client calls the prompt that the first of the fresh messages may still answer."""
    before = (message.prompt_id for message in reversed(news.messages) if message.line <= news.seen.line)
    return next(filter(None, before), "")


def _first_turn(news: News, recalls: list[Recall]) -> int:
    """
    The number, from 0, of the first prompt among the fresh messages.

    Where the beginning of the transcript was skipped it is counted back from the last turn that was recalled.
    """
    fresh = turns(news.fresh)
    if news.part.is_tail:
        return max((recall.turn_index for recall in recalls), default=0) - fresh + 1
    return news.part.end.turns - fresh


def _judged(recall: Recall, documents: Mapping[int, Document], answer: str) -> Mapping[int, bool]:
    new = (hit.document_id for hit in recall.hits if not hit.was_referenced)
    return {number: is_referenced(documents[number], answer) for number in new if number in documents}
