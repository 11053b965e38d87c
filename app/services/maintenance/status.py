"""Statistics of a vault."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from clawmem.app.environment.private_files import state_folder
from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.documents.records import Record
from clawmem.app.services.indexing.collections import Collection
from clawmem.app.services.indexing.folders import MISSING_FOLDER
from clawmem.app.services.indexing.update import EXCLUDED
from clawmem.app.services.models import Provider
from clawmem.app.services.retrieval.receipts import receipt_of
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.text.dates import time_named
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput
from clawmem.ports.indexes import EmbeddingBuild, EmbeddingCounts, EmbeddingStore
from clawmem.ports.knowledge import NoteCounts, NoteStore, RelationStore, TripleStore
from clawmem.ports.sessions import BEGINNING, FOLDER_READER, UNFINISHED, CaptureStore, Session, SessionStore
from clawmem.ports.storage import Storage, VaultInfo
from clawmem.ports.telemetry import Analytics, Question, Recall, Receipts, Telemetry

BACKUP_MARK = ".backup"  # ending of the file next to the vault that a backup leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """
    Counts of served documents, vectors and records, at the time ``at``.

    ``collections`` and ``content_types`` are sorted by name. ``unfinished`` collections are being read, or the process
    that read one was killed. ``model`` names the embedding space of the stored
    vectors, ``None`` while there are none; ``building`` is the embedding space under construction. ``newest`` is the
    latest modification time of a document, ignoring times in the future (a wrong clock, an invented date); ``None``
    when no time remains. ``recalls`` counts the recorded questions, ``receipts`` their stored receipts. ``notes``
    counts enriched documents, ``relations`` the relations of each kind. ``roles`` lists the provider of each model
    role and its last failure. ``stale_documents`` are past their review date, ``facts`` hold. ``recent_sessions`` are
    the latest ones, newest first. ``next_steps`` are at most three sentences about what the user would do next.
    """

    at: str
    info: VaultInfo
    documents: int
    collections: list[Collection]
    unfinished: list[str]
    embeddings: EmbeddingCounts
    model: str | None = None
    building: EmbeddingBuild | None = None
    content_types: dict[str, int]
    newest: str | None = None
    recalls: int
    receipts: int
    receipt_bytes: int
    roles: list[Provider]
    notes: NoteCounts
    relations: dict[str, int]
    stale_documents: int
    average_access_count: float
    facts: int
    recent_sessions: list[Session]
    next_steps: list[str]


# Sources in the error log: settings, which hooks left out, and the watcher of a server.
SETTINGS, WATCH = "settings: ", "watch: "


def logged_errors(vault: Path | str, now_ms: float, source: str = "") -> dict[str, None]:
    """Return the errors of the last day from the log next to *vault*; only those of *source*, without its name, if given."""
    since, mark = iso_utc(int(now_ms) - 86_400_000)[:19], f"Z {source}"
    try:
        lines = (state_folder(Path(vault)) / "errors.log").read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {
        line[19:].removeprefix(mark): None
        for line in lines
        if line[19:].startswith(mark) and line[:19] >= since
    }


def status_of(
    storage: Storage,
    documents: DocumentStore,
    embeddings: EmbeddingStore,
    notes: NoteStore,
    relations: RelationStore,
    triples: TripleStore,
    sessions: SessionStore,
    captures: CaptureStore,
    telemetry: Telemetry,
    receipts: Receipts,
    clock: Clock,
    roles: list[Provider],
    collections: list[Collection],
    language_advice: Callable[[], str],
    read_only: bool,
) -> StatusReport:
    """
    Return the statistics of a vault; change nothing.

    Raises:
        VaultError: the vault cannot be read.
    """
    answers, now, served = receipts.counts(), iso_utc(clock.now_ms()), [*every_served(documents)]
    info, counts = storage.info(), embeddings.counts()
    rejected = logged_errors(info.location, clock.now_ms(), SETTINGS)
    steps = [f"Hooks of the last day left out a setting. {fault}" for fault in rejected]
    for collection in collections:
        with suppress(PermissionError):  # which doctor names
            root = Path(collection.path) if collection.documents and collection.path else None
            own = (note for note in served if note.stamp and note.collection == collection.name)
            paths = (note.path if collection.pattern else "" for note in own)  # commits are no files
            if root and not any((root / path).exists() for path in paths):
                moved = MISSING_FOLDER.format(collection.name)
                steps.append(f"{root} is gone, or has none of its notes, which are kept. {moved}")
    if counts.pending:
        waiting = f"Texts that are not found by their meaning yet: {counts.pending}"
        steps.append(f"{waiting}. Run: clawmem embed")
    if advice := language_advice():
        steps.append(advice)
    unknown = {collection.name for collection in collections if not collection.path}
    stamps = [note.stamp for note in served if note.collection in unknown]
    memories = len(stamps)  # with files of unknown folders, this is a copy of a vault
    if memories and not any(stamps) and not Path(f"{info.location}{BACKUP_MARK}").exists():
        unsaved = f"Memories that are in no file and in no backup: {memories}"
        steps.append(f"{unsaved}. Run: clawmem backup FILE")
    return StatusReport(
        at=now,
        # An operation that reads opens the vault for reading, which says nothing about the vault itself.
        info=replace(info, read_only=read_only),
        documents=len(served),
        collections=collections,
        unfinished=[
            collection.name
            for collection in collections
            if captures.cursor(collection.name, FOLDER_READER) == UNFINISHED
            # never read
            or (collection.path and captures.cursor(collection.name, EXCLUDED) == BEGINNING)
        ],
        embeddings=counts,
        model=embeddings.fingerprint(),
        building=embeddings.building(),
        content_types=dict(sorted(Counter(document.content_type for document in served).items())),
        newest=max((note.authored_at for note in served if note.authored_at <= now), default=None),
        recalls=telemetry.count(),
        receipts=answers.stored,
        receipt_bytes=answers.size_bytes,
        roles=roles,
        notes=notes.counts(),
        relations={kind.value: count for kind, count in relations.counts().items()},
        stale_documents=sum("" < (note.review_by or "")[:10] < now[:10] for note in served),
        average_access_count=round(sum(note.access_count for note in served) / max(1, len(served)), 2),
        facts=sum(triples.counts().values()),
        recent_sessions=sessions.recent(5),
        next_steps=steps[:3],
    )


MAX_TOP = 1000


@dataclass(frozen=True, slots=True)
class VaultReport:
    """
    The records of each question at the time *now*, with recalls *since* a time (``None``: all).

    ``top`` is the number of rows of a long table that are shown.
    """

    now: str
    since: str | None
    documents: int
    recalls: int
    top: int
    tables: dict[Question, list[dict[str, Any]]]


def report(
    documents: DocumentStore,
    telemetry: Telemetry,
    clock: Clock,
    open_analytics: Callable[[], Analytics],
    *,
    since: str | None = None,
    top: int = 10,
) -> VaultReport:
    """
    Load documents and telemetry into an `Analytics`, and return the answers to every question; change nothing.

    Args:
        since: Only recalls from then on: ``2026-05-01``, a full ISO time or ``30d``.
        top: The number of documents listed as most and never recalled.

    Raises:
        InvalidInput: *since* has none of these forms, or is in the future.
        ExtraMissing: the packages of the analytics are not installed.
        VaultError: the vault cannot be read.
    """
    now_ms = clock.now_ms()
    now = iso_utc(now_ms)
    named = time_named(since, now_ms=now_ms, zone=clock.zone()) if since else None
    if since and (named is None or (named.authored_from or "") > now):
        raise InvalidInput(
            "INVALID_INPUT", f"--since {since!r} is no time in the past. Give a day, or days such as 30d."
        )
    since = named and named.authored_from
    analytics = open_analytics()
    every = chain(every_served(documents), documents.latest(active=False))
    # A review date that cannot be parsed is dropped.
    days = ((document, parse_iso(document.review_by or "")) for document in every)
    facts = (note._replace(review_by=None if day is None else iso_utc(day)) for note, day in days)
    analytics.load(facts, telemetry.recalls(since))
    ranked = (Question.MOST_RECALLED, Question.NEVER_RECALLED)  # may list nearly every document
    tables = {
        question: analytics.ask(question, now=now, limit=top if question in ranked else None)
        for question in Question
    }
    examined = sum(record["documents"] for record in tables[Question.COVERAGE])
    recalls = sum(record["recalls"] for record in tables[Question.SPEED])
    return VaultReport(now, since, examined, recalls, top, tables)


class SessionUse(Record):
    """Blocks that one hook added to a session, their tokens and documents, and the share that the conversation used."""

    session_id: str
    hook: str
    last_asked: str
    blocks: int
    tokens: int
    documents: int
    share_referenced: float


def session_uses(
    telemetry: Telemetry, receipts: Receipts, hooks: Container[str], since: str, session: str = ""
) -> list[SessionUse]:
    """Return what *hooks* added to each session *since* a time, the latest first; or to the one *session*, ever."""
    recorded = defaultdict[tuple[str, str], list[Recall]](list)
    for recall in telemetry.recalls(session_id=session) if session else telemetry.recalls(since):
        if recall.verb in hooks:
            recorded[recall.session_id or "no session", recall.verb].append(recall)
    uses = []
    for (name, hook), recalls in recorded.items():
        known = [receipt_of(receipts, recall) for recall in recalls]
        tokens = [int(receipt.asked.get("tokens", 0)) if receipt else 0 for receipt in known]
        referenced = [hit.was_referenced for recall in recalls for hit in recall.hits]
        use = SessionUse(
            session_id=name,
            hook=hook,
            last_asked=recalls[-1].asked_at,
            blocks=sum(bool(recall.hits or n) for recall, n in zip(recalls, tokens, strict=True)),
            tokens=sum(tokens),
            documents=len(referenced),
            share_referenced=sum(referenced) / max(1, len(referenced)),
        )
        uses.append(use)
    return sorted(uses, key=lambda use: use.last_asked, reverse=True)
