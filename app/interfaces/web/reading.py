"""Parts of a vault that the pages show and no operation returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.documents import Text, get
from clawmem.app.services.documents.records import DatedDocument, TitledFile, dated_fields_of, titled_file
from clawmem.app.services.retrieval.receipts import Receipt, receipt_of
from clawmem.app.services.surfacing.reminders import VERB as REMINDER
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING
from clawmem.ports.documents import ClaimKind
from clawmem.ports.errors import ClawmemError
from clawmem.ports.knowledge import RelationKind
from clawmem.ports.records import EVERYTHING, Document
from clawmem.ports.sessions import Session
from clawmem.ports.telemetry import Recall

LATEST = 200  # notes that the first page looks at


@dataclass(frozen=True)
class _Unrecorded(Services):
    """Services that record no question."""

    def __getattr__(self, name: str) -> Any:
        provided: Any = super().__getattr__(name)
        return replace(provided, enabled=False, forgets=False) if name == "recalls" else provided


def unrecorded(services: Services) -> Services:
    """Return *services* that record no question and no receipt."""
    return _Unrecorded(services.container, services.is_open, services.is_new, services.caller)


def dated(services: Services, documents: Sequence[Document]) -> list[DatedDocument]:
    """Return *documents* as records, with what supersedes them."""
    fields = dated_fields_of(services.vault.documents, services.vault.successions, documents)
    return [DatedDocument(**fields[document.id]) for document in documents]


def last_handoff(
    services: Services, sessions: Sequence[Session], documents: Sequence[Document]
) -> Text | None:
    """Return the text of the hand-off of the last session that left one, or of the first one among *documents*."""
    files = [session.handoff_path for session in sessions if session.handoff_path]
    files += [note.display_path for note in documents if note.content_type == "handoff"]
    for file in files[:3]:
        try:
            return get(services, file)
        except ClawmemError:
            continue  # it was forgotten or archived
    return None


def succession_of(services: Services, document: Document) -> tuple[list[TitledFile], list[TitledFile]]:
    """Return the notes that *document* supersedes, and those that supersede it."""
    store, successions = services.vault.documents, services.vault.successions
    older: set[int] = set()
    for claim in successions.claims():
        if claim.kind is not ClaimKind.SUPERSEDES:
            older.add(claim.document_id)
        elif claim.document_id == document.id and (named := store.at(*claim.place)):
            older.add(named.id)
    pairs = successions.direct({*older, document.id})
    before = store.many({pair.older for pair in pairs if pair.newer == document.id})
    after = store.many({pair.newer for pair in pairs if pair.older == document.id})
    return [titled_file(note) for note in before.values()], [titled_file(note) for note in after.values()]


class Prompt(NamedTuple):
    """A prompt, the receipt of its block, and whether the answer used any of it."""

    recall: Recall
    receipt: Receipt | None
    used: dict[int, bool]  # by number of the document


def prompts(services: Services, limit: int, document: Document | None = None, days: int = 30) -> list[Prompt]:
    """
    Return the latest prompts of sessions, newest first; those that received a part of *document* alone, if it is given.

    A reminder is recorded after the block of its prompt.
    """
    turns: dict[tuple[str | None, str], Prompt] = {}  # the last one with a text in a session
    prompts: list[Prompt] = []
    for recall in services.vault.telemetry.recalls(iso_utc(services.clock.now_ms() - days * DAY_MS)):
        key = recall.session_id, recall.query_hash
        used = {hit.document_id: hit.was_referenced for hit in recall.hits}
        if recall.verb == CONTEXT_SURFACING and recall.session_id:
            turns[key] = Prompt(recall, None, used)
            prompts.append(turns[key])
        elif recall.verb == REMINDER and key in turns:
            turns[key].used.update(used)
    chosen = [prompt for prompt in prompts if document is None or document.id in prompt.used]
    return [
        prompt._replace(receipt=receipt_of(services.vault.receipts, prompt.recall))
        for prompt in chosen[: -limit - 1 : -1]
    ]


class Quotation(NamedTuple):
    """
    Part of a block: a note, and the lines that it had.

    ``item`` is the best of its items in the receipt. ``text`` is empty if the note is gone, has changed since, or was only
    named.
    """

    item: Mapping[str, Any]
    document: Document | None
    has_changed: bool
    text: str


def quotations(services: Services, receipt: Receipt) -> list[Quotation]:
    """Return the notes in the block of *receipt*, each with its lines of then as far as the note still has them."""
    documents = services.vault.documents.many(item["document_id"] for item in receipt.items)
    bodies = services.vault.documents.bodies(documents)
    items: dict[int, list[Mapping[str, Any]]] = {}
    for item in receipt.items:
        items.setdefault(item["document_id"], []).append(item)
    parts = []
    for number, several in items.items():
        document = documents.get(number)
        has_changed = document is None or any(
            item.get("hash", document.hash) != document.hash for item in several
        )
        quoted = [item.get("quoted") or (0, -1) for item in several]  # (0, 0) for a note that is only named
        numbers = sorted({line for first, last in quoted for line in range(first, last + 1)} - {0})
        text = ""
        if document and not has_changed:
            lines = dict(enumerate(bodies.get(number, "").split("\n"), document.body_line))
            for before, line in zip([0, *numbers], numbers, strict=False):
                text += ("\n" if before and line > before + 1 else "") + lines.get(line, "") + "\n"
        parts.append(Quotation(several[0], document, has_changed, text))
    return parts


def contradictions(services: Services, limit: int = 30) -> list[tuple[TitledFile, TitledFile, str]]:
    """Return pairs of served notes that contradict each other, with the reason if one is known."""
    store, kinds = services.vault.documents, {RelationKind.CONTRADICTS}
    if not services.vault.relations.counts().get(RelationKind.CONTRADICTS):
        return []
    relations = services.vault.relations.outbound(store.ids(EVERYTHING), kinds, limit=3)[:limit]
    notes = store.many({end for relation in relations for end in (relation.source, relation.target)})
    return [
        (
            titled_file(notes[relation.source]),
            titled_file(notes[relation.target]),
            str(relation.metadata.get("reasoning", "")),
        )
        for relation in relations
    ]


def overdue(services: Services, limit: int = 40) -> list[tuple[TitledFile, str]]:
    """Return the notes past their review date, with the date, the longest overdue first."""
    today = iso_utc(services.clock.now_ms())[:10]
    dates = [
        ((note.review_by or "")[:10], note)
        for note in services.vault.documents.latest()
        if "" < (note.review_by or "")[:10] < today
    ]
    dates.sort(key=lambda pair: pair[0])
    return [(titled_file(note), date) for date, note in dates[:limit]]
