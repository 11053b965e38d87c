"""The history of a vault: documents in order, sessions and their topics, receipts of answers, and the use of all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.hook_registry import HOOKS, SESSION_VARIABLES
from clawmem.app.environment.places import below_home, real_path, topics_folder
from clawmem.app.environment.session_topics import set_topic, topic_file, topic_of
from clawmem.app.operations.fields import Address, AsOf, Limit, LongLimit
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, argument, operation
from clawmem.app.operations.output import Part, Verbatim, records_table
from clawmem.app.operations.search import receipt_parts, session_line
from clawmem.app.services.documents.file_history import FileReason
from clawmem.app.services.documents.records import with_successor
from clawmem.app.services.documents.timeline import AROUND, MOST_AROUND, Timeline, latest_sessions
from clawmem.app.services.maintenance.status import MAX_TOP, SessionUse, VaultReport, session_uses
from clawmem.app.services.retrieval.receipts import Receipt, find_receipt, latest_receipts
from clawmem.app.services.retrieval.request import first_after
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.security.quoting import lines_to_read, title_to_read
from clawmem.ports.records import one_line
from clawmem.ports.sessions import Session

Around = Annotated[int, Field(ge=1, le=MOST_AROUND, description="Number of documents on this side.")]


def _timeline_text(result: Timeline) -> Iterator[Part]:
    columns = "docid authored_at=written changed_after=changed file title"
    yield from records_table([*result.before, result.focus, *result.after], columns)
    if result.session_id is not None:
        yield f"in session {result.session_id[:8]}: {one_line(result.session_summary or '')}"


@operation(Effect.READS, text=_timeline_text, route="/timeline/{docid:path}")
def timeline(
    services: Services,
    docid: Address,
    before: Around = AROUND,
    after: Around = AROUND,
    same_collection: Annotated[bool, "Only of its collection."] = False,
    as_of: AsOf = "",
) -> Timeline:
    """List the documents written just before and after a document, and the session in which it was written."""
    document, moment = services.lookup.find(docid), first_after(as_of, services.clock)
    around = {"before": before, "after": after, "same_collection": same_collection}
    return services.timeline(document, **around, as_of=moment)


@operation(
    Effect.READS,
    text=lambda items: [*map(session_line, items)] or "No session is recorded. Run: clawmem setup hooks",
    items="sessions",
    route="/sessions",
    command="sessions",
)
def session_log(services: Services, limit: LongLimit = 10, as_of: AsOf = "") -> list[Session]:
    """List the latest sessions and their results."""
    return latest_sessions(services.vault.sessions, limit, first_after(as_of, services.clock))


@operation(
    Effect.READS,
    columns="session_id hook last_asked blocks tokens documents share_referenced=of_use",
    empty="Nothing was given to any prompt yet.",
    items="sessions",
    command="report --budget",
)
def budget(
    services: Services,
    session: Annotated[str, "Only this session."] = "",
    limit: Annotated[Limit, Option(("-n", "--limit"), about="Number of rows.")] = 5,
) -> list[SessionUse]:
    """Show the tokens that each hook added to sessions of the last 30 days, and how much of them was used."""
    since = iso_utc(services.clock.now_ms() - 30 * DAY_MS)
    return session_uses(services.vault.telemetry, services.vault.receipts, HOOKS, since, session)[:limit]


class ReceiptLine(Result):
    """A receipt in a list."""

    id: int
    asked_at: str
    verb: str
    answers: int
    question: str


@operation(
    Effect.READS,
    name="receipts",
    columns="id asked_at verb answers question",
    empty="No receipts. They are kept for every answer, unless that is switched off.",
    items="receipts",
    route="/receipts",
    command="why",
)
def list_receipts(services: Services, limit: LongLimit = 10) -> list[ReceiptLine]:
    """List the latest receipts of answers, newest first."""
    keys, latest = {"asked_at", "verb", "question"}, latest_receipts(services.vault.receipts, limit).items()
    facts = [(number, len(receipt.items), receipt.model_dump(include=keys)) for number, receipt in latest]
    return [ReceiptLine(id=number, answers=answers, **known) for number, answers, known in facts]


def _is_path(*words: str) -> bool:
    """Whether the only one of *words* is a file, or reads like a path and not like the number of a receipt."""
    like = re.compile(r"[/\\]|\w\.[A-Za-z]\w*$")
    return len(words) == 1 and bool(like.search(words[0]) or Path(words[0]).is_file())


@operation(
    Effect.READS,
    name="receipt",
    text=receipt_parts,
    route="/receipts/{id}",
    command=(Command("why", fits=lambda words: not _is_path(*words)),),
)
def show_receipt(
    services: Services, id: Annotated[str, "Its number.", Field(min_length=1), argument("ID")]
) -> Receipt:
    """Show how an answer came about."""
    return find_receipt(services.vault.receipts, id)


def _absolute(path: str) -> str:
    """Return the absolute path of a file that exists; another path as it is."""
    return str(real_path(below_home(path))) if below_home(path).exists() else path


def _reasons_text(result: list[FileReason]) -> Iterator[Part]:
    for about in result:
        yield f"{about.file}  {about.docid}  {about.content_type}  {about.authored_at[:10]}"
        yield f"  {with_successor(one_line(title_to_read(about.title, about.origin)), about.superseded_by)}"
        yield from (f"    {line}" for line in lines_to_read(about.reason, about.origin))
        yield ""
    if not result:
        yield "No reason for this file is known. To read commit messages: clawmem collection add PATH --kind git"


@operation(
    Effect.READS,
    text=_reasons_text,
    items="reasons",
    command=(Command("why", fits=lambda words: _is_path(*words)),),
)
def file_reasons(
    services: Services,
    path: Annotated[str, "A file, or the end of its path.", argument("FILE", parser=_absolute)],
    limit: LongLimit = 10,
) -> list[FileReason]:
    """List the decisions, commits and notes about a file, newest first, each with its reason."""
    reasons = services.file_history(path, limit)
    if not reasons and not Path(path).exists():
        services.lookup.find(path)
    return reasons


class SessionTopic(Result):
    """The topic of a session, or of every session (""); null if it has none."""

    session_id: str
    topic: str | None


@operation(
    Effect.REPEATABLE,
    text=lambda result: f"{result.session_id or 'Every session'}: {result.topic or 'no topic'}",
    command=(
        Command("focus set", fixed={"clear": False}),
        Command("focus show", fixed={"topic": "", "clear": False}, about="Show the topic of a session."),
        Command("focus clear", fixed={"topic": "", "clear": True}, about="Remove the topic of a session."),
    ),
    opens=Opening.NOTHING,
)
def focus(
    services: Services,
    topic: Annotated[str, "The topic, up to 256 characters; empty shows it.", argument("TOPIC...")] = "",
    clear: Annotated[bool, "Remove the topic."] = False,
    session_id: Annotated[str, "Session; by default the one that runs this command, or every one."] = "",
) -> SessionTopic:
    """Set the topic of a session: notes about it are ranked first."""
    known = [session_id, *(os.environ.get(name, "") for name in SESSION_VARIABLES)]
    session, folder = next(filter(None, known), ""), topics_folder(os.environ)
    if topic:
        set_topic(folder, session, topic)
    elif clear:
        topic_file(folder, session).unlink(missing_ok=True)
    return SessionTopic(session_id=session, topic=topic_of(folder, session) or None)


class UserProfile(Result):
    """The profile as Markdown; ``text`` is null if there is none."""

    text: str | None = None


@operation(
    Effect.READS,
    text=lambda user: [Verbatim((user.text or "There is no decision, preference or session yet.").rstrip())],
    route="/profile",
)
def profile(services: Services) -> UserProfile:
    """Return the profile of the user: current decisions and preferences, and what the last sessions came to."""
    return UserProfile(text=services.briefings.profile() or None)


def _report_text(result: VaultReport) -> Iterator[Part]:
    """Yield each table with its first rows, or its last ones if it is in the order of time."""
    yield f"documents: {result.documents}, recorded questions: {result.recalls}, since: {result.since or 'ever'}"
    for question, records in result.tables.items():
        records = [record for record in records if record.get("basis") != "indexed"]
        # without recalls never_recalled would list all documents
        if records and (result.recalls or question != "never_recalled"):
            rows = records[-result.top :] if {"month", "day"} & records[0].keys() else records[: result.top]
            cut = f" ({len(rows)} of {len(records)}; --json has all)" if len(rows) < len(records) else ""
            yield f"\n{question.replace('_', ' ').capitalize()}{cut}"
            yield from records_table(rows, " ".join(name for name in records[0] if name != "basis"))


@operation(Effect.READS, text=_report_text, in_own_process=True)
def report(
    services: Services,
    since: Annotated[str | None, "Count questions from then on: a day, or days such as 30d."] = None,
    top: Annotated[int, "Rows of long tables.", Field(ge=1, le=MAX_TOP)] = 10,
) -> VaultReport:
    """Report recalls, growth, age of documents and speed."""
    return services.report(since=since, top=top)
