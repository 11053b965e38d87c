"""The order in which documents were written, and the sessions in which they were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.answer_text import SHOWN_FILES, SHOWN_ID, SHOWN_SUMMARY, session_line
from clawmem.app.operations.answering import sessions_of
from clawmem.app.operations.answers import SessionRecord
from clawmem.app.operations.fields import (
    Address,
    DocumentReference,
    Successor,
    place_from,
    successor_of,
    with_successor,
)
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Part, table
from clawmem.app.operations.questions import AsOf
from clawmem.app.services.documents.timeline import AROUND, MOST_AROUND, latest_sessions
from clawmem.app.services.retrieval.request import first_after
from clawmem.domain.briefing.packing import shortened
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.security.quoting import title_to_read

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.documents import timeline as timelines

MAX_LISTED = 10_000
NO_SESSIONS = "No session is recorded yet. To record sessions, run: clawmem setup hooks"


class TimelineDocument(DocumentReference):
    """A document of a timeline."""

    id: int
    content_type: str
    authored_at: str
    modified_at: str
    superseded_by: Successor | None = None


class Timeline(Result):
    """The documents written around a document, oldest first, and the session of the document."""

    focus: TimelineDocument
    before: list[TimelineDocument]
    after: list[TimelineDocument]
    total_in_range: int
    session_id: str | None = None
    session_summary: str | None = None


class Sessions(Result):
    """The sessions that began last, newest first."""

    count: int
    sessions: list[SessionRecord]


def _moment(entry: timelines.Entry) -> TimelineDocument:
    document = entry.document
    return TimelineDocument(
        **place_from(document, entry.docid),
        id=document.id,
        content_type=document.content_type,
        authored_at=document.authored_at,
        modified_at=document.modified_at,
        superseded_by=successor_of(entry.superseded_by),
    )


def _marked(result: Timeline) -> Iterator[tuple[str, TimelineDocument]]:
    """Yield the documents of a timeline in their order, with a mark before the document asked for."""
    yield from (("", document) for document in result.before)
    yield ">", result.focus
    yield from (("", document) for document in result.after)


def _title(one: TimelineDocument) -> str:
    return with_successor(title_to_read(one.title, one.origin), one.superseded_by)


def _timeline_text(result: Timeline) -> str:
    lines = [
        f"{mark or ' '} {document.authored_at[:16]} {document.file} ({document.docid}) {_title(document)}"
        for mark, document in _marked(result)
    ]
    return "\n".join([*lines, *_within(result)])


def _timeline_parts(result: Timeline) -> list[Part]:
    rows = [
        (mark, document.docid, document.authored_at[:16].replace("T", " "), document.file, _title(document))
        for mark, document in _marked(result)
    ]
    order = table(("", "docid", "written", "file", "title"), rows)
    return [order, *_within(result)]


def _within(result: Timeline) -> Iterator[str]:
    if result.session_id is not None:
        yield f"in session {result.session_id[:SHOWN_ID]}: {_summary(result.session_summary or '')}"


def _sessions_text(result: Sessions) -> str:
    return "\n".join(map(session_line, result.sessions)) or NO_SESSIONS


def _sessions_parts(result: Sessions) -> list[Part]:
    if not result.sessions:
        return [NO_SESSIONS]
    columns = ("session", "began", "minutes", "handed over in", "what came of it", "files")
    return [table(columns, map(_session_row, result.sessions))]


def _session_row(session: SessionRecord) -> tuple[str, ...]:
    files = ", ".join(session.files_changed[:SHOWN_FILES])
    more = len(session.files_changed) - SHOWN_FILES
    return (
        session.id[:SHOWN_ID],
        session.started_at[:16].replace("T", " "),
        _minutes(session),
        session.handoff_path or "",
        _summary(session.summary),
        f"{files} and {more} more" if more > 0 else files,
    )


def _summary(text: str) -> str:
    return shortened(" ".join(text.split()), SHOWN_SUMMARY)


def _minutes(session: SessionRecord) -> str:
    if session.ended_at is None:
        return "active"
    began, ended = parse_iso(session.started_at), parse_iso(session.ended_at)
    return "?" if began is None or ended is None else str(round((ended - began) / 60_000))


@operation(Effect.READS, text=_timeline_text, route="/timeline/{docid:path}", terminal=_timeline_parts)
def timeline(
    services: Services,
    docid: Address,
    before: Annotated[
        int, Field(ge=1, le=MOST_AROUND, description="Number of documents before it.")
    ] = AROUND,
    after: Annotated[int, Field(ge=1, le=MOST_AROUND, description="Number of documents after it.")] = AROUND,
    same_collection: Annotated[
        bool, Field(description="Only of its collection."), Option(("--same-collection",))
    ] = False,
    as_of: AsOf = "",
) -> Timeline:
    """List the documents written just before and after a document, and the session in which it was written."""
    found = services.timeline(
        services.lookup.find(docid),
        before=before,
        after=after,
        same_collection=same_collection,
        as_of=as_of,
    )
    return Timeline(
        focus=_moment(found.focus),
        before=[*map(_moment, found.before)],
        after=[*map(_moment, found.after)],
        total_in_range=found.total,
        session_id=found.session.id if found.session else None,
        session_summary=found.session.summary if found.session else None,
    )


@operation(
    Effect.READS,
    text=_sessions_text,
    route="/sessions",
    commands=(Command("sessions"), Command("log")),
    terminal=_sessions_parts,
)
def session_log(
    services: Services,
    limit: Annotated[
        int,
        Field(ge=1, le=MAX_LISTED, description="Maximum number."),
        Option(("-n", "--num", "--last", "--limit")),
    ] = 10,
    as_of: AsOf = "",
) -> Sessions:
    """List the latest sessions and their results."""
    found = latest_sessions(services.vault.sessions, limit, first_after(as_of))
    return Sessions(count=len(found), sessions=sessions_of(found))
