"""The history of a vault: documents in order, sessions and their topics, receipts of answers, and the use of all."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.hook_registry import SESSION_VARIABLES
from clawmem.app.environment.places import topics_folder
from clawmem.app.environment.session_topics import Topics
from clawmem.app.operations.answers import (
    SHOWN_ID,
    SHOWN_SUMMARY,
    plain,
    score_lines,
    session_line,
    trace_parts,
)
from clawmem.app.operations.fields import Address, Limit, LongLimit
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, operation
from clawmem.app.operations.output import Part, confidence_text, plural, records_table, table
from clawmem.app.operations.search import AsOf
from clawmem.app.services.documents.records import with_successor
from clawmem.app.services.documents.timeline import AROUND, MOST_AROUND, Timeline, latest_sessions
from clawmem.app.services.maintenance.status import MAX_TOP, read_since
from clawmem.app.services.retrieval.request import first_after
from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING, receipt_of
from clawmem.domain.briefing.packing import shortened
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.security.quoting import title_to_read
from clawmem.ports.errors import InvalidInput
from clawmem.ports.sessions import Session
from clawmem.ports.telemetry import Recall

NO_SESSIONS = "No session is recorded yet. To record sessions, run: clawmem setup hooks"


def _timeline_text(result: Timeline) -> Iterator[Part]:
    documents = [*result.before, result.focus, *result.after]
    rows = [
        (
            ">" if document is result.focus else "",
            document.docid,
            document.authored_at[:16].replace("T", " "),
            document.file,
            with_successor(title_to_read(document.title, document.origin), document.superseded_by),
        )
        for document in documents
    ]
    yield table(("", "docid", "written", "file", "title"), rows)
    if result.session_id is not None:
        summary = shortened(" ".join((result.session_summary or "").split()), SHOWN_SUMMARY)
        yield f"in session {result.session_id[:SHOWN_ID]}: {summary}"


@operation(Effect.READS, text=_timeline_text, route="/timeline/{docid:path}")
def timeline(
    services: Services,
    docid: Address,
    before: Annotated[
        int, Field(ge=1, le=MOST_AROUND, description="Number of documents before it.")
    ] = AROUND,
    after: Annotated[int, Field(ge=1, le=MOST_AROUND, description="Number of documents after it.")] = AROUND,
    same_collection: Annotated[bool, Field(description="Only of its collection.")] = False,
    as_of: AsOf = "",
) -> Timeline:
    """List the documents written just before and after a document, and the session in which it was written."""
    document = services.lookup.find(docid)
    return services.timeline(
        document, before=before, after=after, same_collection=same_collection, as_of=as_of
    )


@operation(
    Effect.READS,
    text=lambda sessions: [*map(session_line, sessions)] or NO_SESSIONS,
    items="sessions",
    route="/sessions",
    commands=(Command("sessions"),),
)
def session_log(
    services: Services,
    limit: LongLimit = 10,
    as_of: AsOf = "",
) -> list[Session]:
    """List the latest sessions and their results."""
    return latest_sessions(services.vault.sessions, limit, first_after(as_of))


# -- what hooks added to prompts ------------------------------------------------------------------------

DAYS_BACK = 30


class SessionUse(Result):
    """Prompts of one session, and the documents in their blocks."""

    session_id: str
    last_asked: str
    prompts: int
    blocks: int = Field(description="Prompts that got a block.")
    tokens: int = Field(description="Tokens of the blocks whose receipts are still stored.")
    given: int = Field(description="Surfaced documents.")
    referenced: int = Field(description="Of them, documents that the conversation made use of.")
    share_referenced: float = Field(description="The share of these, 0 to 1.")


@operation(
    Effect.READS,
    columns="session_id last_asked prompts blocks=with_a_block tokens given=documents share_referenced=of_use",
    empty="Nothing was given to any prompt yet.",
    items="sessions",
    commands=(Command("report", "--budget"),),
    is_tool=False,
)
def budget(
    services: Services,
    session: Annotated[str, Field(description="Only this session.")] = "",
    limit: Annotated[Limit, Option(("-n", "--limit"), about="Number of sessions.")] = 5,
) -> list[SessionUse]:
    """Show the tokens that hooks added to prompts of the last 30 days, and how much of them was used."""
    telemetry, sessions = services.vault.telemetry, defaultdict[str, list["Recall"]](list)
    since = iso_utc(services.clock.now_ms() - DAYS_BACK * DAY_MS)
    for recall in telemetry.of_session(session) if session else telemetry.recalls(since):
        if recall.verb == CONTEXT_SURFACING and recall.session_id:
            sessions[recall.session_id].append(recall)
    uses = []
    for name, recalls in sessions.items():
        hits = [hit for recall in recalls for hit in recall.hits]
        receipts = (receipt_of(services.vault.receipts, recall) for recall in recalls if recall.hits)
        referenced = sum(hit.was_referenced for hit in hits)
        use = SessionUse(
            session_id=name,
            last_asked=recalls[-1].asked_at,
            prompts=len(recalls),
            blocks=sum(bool(recall.hits) for recall in recalls),
            tokens=sum(int(receipt.asked.get("tokens", 0)) for receipt in receipts if receipt),
            given=len(hits),
            referenced=referenced,
            share_referenced=referenced / len(hits) if hits else 0.0,
        )
        uses.append(use)
    return sorted(uses, key=lambda use: use.last_asked, reverse=True)[:limit]


# -- receipts -------------------------------------------------------------------------------------------

MOST_RECEIPTS = 1000


class ReceiptLine(Result):
    """A receipt in a list; all fields but the id are null if it cannot be read."""

    id: int
    asked_at: str | None = None
    verb: str | None = None
    answers: int | None = None
    question: str | None = None


class Receipt(Result):
    """The receipt of an answer."""

    verb: str
    question: str
    asked_at: str
    took_ms: float
    version: str
    model: str | None
    asked: dict[str, Any] = Field(description="The parameters that differ from their defaults.")
    items: list[dict[str, Any]] = Field(description="The results, with ranks and the terms of each score.")
    stages: list[dict[str, Any]] = Field(description="The stages, with the candidates that they dropped.")
    hits: dict[str, int]
    degraded: dict[str, str]
    answered: float | None = Field(description="Probability that anything found answers the question.")


def _receipt_text(result: Receipt) -> Iterator[Part]:
    asked = ", ".join(f"{name} {value}" for name, value in result.asked.items())
    yield f"{result.verb}: {result.question}" + (f"  ({asked})" if asked else "")
    model = f", vectors of {result.model}" if result.model else ""
    yield f"asked {result.asked_at}, {result.took_ms:g} ms, clawmem {result.version}{model}"
    if result.answered is not None:
        yield f"confidence that anything found here answers: {confidence_text(result.answered)}"
    yield "" if result.items else "nothing was found"
    for rank, item in enumerate(result.items, start=1):
        facts = "  ".join(filter(None, (f"#{item['docid']}", confidence_text(item["confidence"]))))
        yield f"{rank}. {item['file']}:{item['start_line']}  {facts}"
        scores = score_lines(item["score"], item["terms"], item["parts"], item["legs"])
        yield from (f"    {line}" for line in scores)
    yield ""
    yield from trace_parts({"hits": result.hits, "stages": result.stages})


@operation(
    Effect.READS,
    name="receipts",
    columns="id asked_at verb answers question",
    empty="No receipts. They are kept for every answer, unless that is switched off.",
    items="receipts",
    route="/receipts",
    commands=(Command("why"),),
    is_tool=False,
)
def list_receipts(
    services: Services,
    limit: Annotated[
        int, Field(ge=1, le=MOST_RECEIPTS, description="Maximum number."), Option(("-n", "--limit"))
    ] = 10,
) -> list[ReceiptLine]:
    """List the latest receipts of answers, newest first."""
    lines = []
    for entry in services.why.latest(limit):
        line = ReceiptLine(id=entry.id)
        if receipt := entry.receipt:
            line.asked_at, line.verb, line.question = receipt.asked_at, receipt.verb, receipt.question
            line.answers = len(receipt.items)
        lines.append(line)
    return lines


@operation(
    Effect.READS,
    name="receipt",
    text=_receipt_text,
    route="/receipts/{id}",
    commands=(Command("why"),),
    is_tool=False,
)
def show_receipt(
    services: Services,
    id: Annotated[
        str,
        Field(max_length=100, description="Its number, as an explained answer returns it."),
        Option(metavar="ID", is_argument=True),
    ],
) -> Receipt:
    """Show how an answer came about."""
    return Receipt(**plain(services.why.find(id)))


# -- topics of sessions, and the profile of the user ------------------------------------------------------


SessionId = Annotated[str, Field(description="Session; by default the one that runs this command.")]


class SessionTopic(Result):
    """The topic of a session; null if it has none."""

    session_id: str
    topic: str | None


def _topics() -> Topics:
    return Topics(topics_folder(os.environ))


def _session_id(given: str) -> str:
    known = [given, *(os.environ.get(name, "") for name in SESSION_VARIABLES)]
    if session := next(filter(None, known), ""):
        return session
    raise InvalidInput("INVALID_INPUT", "No session is known here. Name it: --session-id ID")


def _topic_text(result: SessionTopic) -> str:
    return result.topic or "This session keeps to no topic."


@operation(Effect.REPEATABLE, text=_topic_text, is_tool=False, opens=Opening.NOTHING)
def focus_set(
    services: Services,
    topic: Annotated[
        str,
        Field(description="The topic, up to 256 characters."),
        Option(metavar="TOPIC...", is_argument=True),
    ],
    session_id: SessionId = "",
) -> SessionTopic:
    """Set the topic of a session: notes about it are ranked first."""
    session = _session_id(session_id)
    return SessionTopic(session_id=session, topic=_topics().set(session, topic))


@operation(Effect.READS, text=_topic_text, is_tool=False, in_own_process=True, opens=Opening.NOTHING)
def focus_show(services: Services, session_id: SessionId = "") -> SessionTopic:
    """Show the topic of a session."""
    session = _session_id(session_id)
    return SessionTopic(session_id=session, topic=_topics().get(session) or None)


@operation(Effect.REPEATABLE, text=_topic_text, is_tool=False, opens=Opening.NOTHING)
def focus_clear(services: Services, session_id: SessionId = "") -> SessionTopic:
    """Remove the topic of a session."""
    session = _session_id(session_id)
    _topics().clear(session)
    return SessionTopic(session_id=session, topic=None)


class UserProfile(Result):
    """The profile as Markdown; ``text`` is null if there is none."""

    text: str | None = None


NO_PROFILE = "There is no profile yet: the vault has no decision, no preference and no session."


@operation(Effect.READS, text=lambda result: (result.text or NO_PROFILE).rstrip(), route="/profile")
def profile(services: Services) -> UserProfile:
    """
    Return the profile of the user.

    It lists the titles and first sentences of current decisions and preferences, and what the last sessions came to.
    """
    return UserProfile(text=services.profile.text() or None)


# -- the use and the growth of a vault --------------------------------------------------------------------


class UsageReport(Result):
    """The recalls, growth, age of documents and speed of a vault, as tables of records; ``files`` were written."""

    now: str
    since: str | None
    documents: int
    recalls: int
    top: int
    tables: dict[str, list[dict[str, Any]]]
    files: list[str]


class Section(NamedTuple):
    """A table of the report: the question that it answers, its columns, and the condition on its rows."""

    title: str
    question: str
    columns: str  # see `records_table`
    latest: bool = False  # whether a long table shows its last rows instead of its first
    where: Mapping[str, str] = {}


_GROWTH = "month collection documents bytes=size documents_total=in_all bytes_total=size_in_all"
_SPEED = "recalls unanswered degraded p50_ms p95_ms"
SECTIONS = (
    Section(
        "Recalled most", "most_recalled", "document content_type recalls questions best_rank last_recalled_at"
    ),
    Section("Never recalled, oldest first", "never_recalled", "document content_type authored_at age_days"),
    Section(
        "By collection and type",
        "coverage",
        "collection content_type documents bytes=size pinned unembedded=without_vectors recalled recalls",
    ),
    Section("Growth, by the month written", "growth", _GROWTH, latest=True, where={"basis": "authored"}),
    Section("Growth, by the month indexed", "growth", _GROWTH, latest=True, where={"basis": "indexed"}),
    Section(
        "Documents by age in days",
        "ages",
        "collection future under_7 under_30 under_90 under_365 older median_days",
    ),
    Section("Age by type", "staleness", "content_type documents median_days oldest_days overdue"),
    Section("No longer served", "inactive", "collection reason documents bytes=size"),
    Section("Recalls by month", "use", "month collection content_type recalls documents", latest=True),
    Section("Speed", "speed", f"verb {_SPEED} slowest_ms"),
    Section("Speed by day", "days", f"day verb {_SPEED}", latest=True),
    Section("Degraded answers", "degraded", "verb leg recalls share last_at"),
)


def _folder(path: Path) -> str:
    try:
        path.expanduser().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error.strerror}.") from error
    return str(path.expanduser())


def _report_text(result: UsageReport) -> Iterator[Part]:
    period = f"since {result.since}" if result.since else "so far"
    yield f"{plural(result.documents, 'document')}, {plural(result.recalls, 'recorded question')} {period}."
    if not result.documents:
        yield "The vault serves nothing yet. Next: clawmem update"
    if not result.recalls:
        yield "Nothing can be said of recalls: questions are recorded as they are asked."
    for section in SECTIONS:
        records = [
            record
            for record in result.tables[section.question]
            if all(record[column] == value for column, value in section.where.items())
        ]
        # without recalls never_recalled would list all documents
        if records and (result.recalls or section.question != "never_recalled"):
            rows = records[-result.top :] if section.latest else records[: result.top]
            cut = f" ({len(rows)} of {len(records)}; --json has all)" if len(rows) < len(records) else ""
            yield f"\n{section.title}{cut}"
            yield from records_table(rows, section.columns)
    for path in result.files:
        yield f"Written: {path}"


@operation(Effect.READS, text=_report_text, is_tool=False, in_own_process=True)
def report(
    services: Services,
    since: Annotated[
        str | None, Field(description="Count questions from then on: a day, or days such as 30d.")
    ] = None,
    top: Annotated[
        int, Field(ge=1, le=MAX_TOP, description=f"Rows of the tables that are long, 1 to {MAX_TOP}.")
    ] = 10,
    parquet: Annotated[
        Path | None,
        Field(description="Write documents, recalls and hits to this folder, as Parquet."),
        Option(metavar="DIR"),
    ] = None,
    plots: Annotated[
        Path | None, Field(description="Draw the answers in this folder."), Option(metavar="DIR")
    ] = None,
    format: Annotated[Literal["png", "svg"], Field(description="Of the plots: png or svg.")] = "png",
) -> UsageReport:
    """Report recalls, growth, age of documents and speed."""
    first = read_since(since, services.clock.now_ms()) if since is not None else None
    folder = _folder(parquet) if parquet else None
    with services.progress("Reading") as step:
        found = services.report(since=first, top=top, export=folder, progress=step)
    drawn = services.draw_report(found, _folder(plots), format) if plots else []
    return UsageReport(
        now=found.now,
        since=found.since,
        documents=found.documents,
        recalls=found.recalls,
        top=top,
        tables={question.value: table.records() for question, table in found.tables.items()},
        files=[*found.files, *drawn],
    )
