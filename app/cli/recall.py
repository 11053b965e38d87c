"""Ways to remember: retrieve, plan, similar, timeline, sessions."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.cli.retrieval import (
    NO_VECTORS,
    AsOf,
    Explain,
    Floor,
    Given,
    Limit,
    Question,
    Since,
    Tags,
    Types,
    Until,
    Words,
    read_question,
)
from clawmem.app.cli.session import Collections, one_of, opened, wants_json

if TYPE_CHECKING:
    from clawmem.app.services.documents.timeline import Timeline
    from clawmem.app.services.retrieval.pipelines.memory_retrieve import Retrieved
    from clawmem.app.services.retrieval.pipelines.query_plan import PlannedClause
    from clawmem.ports.sessions import Session

cli = typer.Typer(rich_markup_mode=None)

AUTO = "auto"  # the question's own words choose
SHOWN_ID, SHOWN_SUMMARY, SHOWN_FILES = 8, 100, 5  # of a session, where a person reads it

Name = Annotated[str, typer.Argument(metavar="DOC", help="A path, clawmem:// address or #docid.")]
HowMany = Annotated[int, typer.Option("-n", "--num", "--limit", "--last", help="How many.")]


@cli.command()
def retrieve(
    ctx: typer.Context,
    words: Words,
    mode: Annotated[
        str, typer.Option(help="timeline, causal, discovery, complex, keyword, semantic, hybrid or auto.")
    ] = AUTO,
    limit: Limit = 10,
    collection: Collections = None,
    since: Since = "",
    until: Until = "",
    as_of: AsOf = "",
    content_type: Types = None,
    tag: Tags = None,
    floor: Floor = 0.0,
    explain: Explain = False,
) -> None:
    """Find by whichever way the question calls for. Begin here."""
    from clawmem.domain.retrieval.routing import Route

    question = Question(
        words,
        limit,
        collection,
        since=since,
        until=until,
        as_of=as_of,
        content_types=content_type,
        tags=tag,
        floor=floor,
    )
    chosen = one_of("--mode", mode.lower(), (AUTO, *Route))
    with opened(ctx, read_only=True) as services:
        request = read_question(services, question)
        began = perf_counter()
        found = services.memory_retrieve(request, None if chosen == AUTO else Route(chosen))
        given = Given(services, found, request, "memory_retrieve", _ms_since(began))
        _show(ctx, given, _way(found), explain)


@cli.command()
def plan(
    ctx: typer.Context,
    words: Words,
    limit: Limit = 10,
    collection: Collections = None,
    since: Since = "",
    until: Until = "",
    as_of: AsOf = "",
    content_type: Types = None,
    tag: Tags = None,
    floor: Floor = 0.0,
    explain: Explain = False,
) -> None:
    """Take a question of several topics apart, and answer the parts together."""
    question = Question(
        words,
        limit,
        collection,
        since=since,
        until=until,
        as_of=as_of,
        content_types=content_type,
        tags=tag,
        floor=floor,
    )
    with opened(ctx, read_only=True) as services:
        request = read_question(services, question)
        began = perf_counter()
        found = services.query_plan(request)
        given = Given(services, found, request, "query_plan", _ms_since(began))
        _show(ctx, given, {"plan": found.plan}, explain)


@cli.command()
def similar(
    ctx: typer.Context,
    name: Name,
    limit: Annotated[int, typer.Option("-n", "--num", "--limit", help="How many, 1 to 100.")] = 5,
    as_of: AsOf = "",
) -> None:
    """The documents that are nearest to one by meaning."""
    from clawmem.app.cli.rendering import result_record, show_answer, show_degraded, show_json
    from clawmem.ports.errors import EmbeddingError

    with opened(ctx, read_only=True) as services:
        document = services.lookup.find(name)
        if services.vault.embeddings.fingerprint() is None:
            raise EmbeddingError(f"Nothing can be compared by meaning: {NO_VECTORS}")
        found = services.find_similar(document, now_ms=services.clock.now_ms(), limit=limit, as_of=as_of)
    if wants_json(ctx):
        reference = {"docid": f"#{found.docid}", "file": document.display_path, "title": document.title}
        results = [result_record(result) for result in found.answer.results]
        show_json({"reference": reference, "results": results})
    else:
        show_answer(found.answer)
    show_degraded(found.answer.trace)


@cli.command()
def timeline(
    ctx: typer.Context,
    name: Name,
    before: Annotated[int, typer.Option(help="How many that were changed before it, 1 to 20.")] = 5,
    after: Annotated[int, typer.Option(help="How many that were changed after it, 1 to 20.")] = 5,
    same_collection: Annotated[
        bool, typer.Option("--same-collection", help="Only of its collection.")
    ] = False,
    as_of: AsOf = "",
) -> None:
    """What was changed just before and after a document, and in which session."""
    from clawmem.app.cli.rendering import show_json
    from clawmem.app.records.documents import order_of

    with opened(ctx, read_only=True) as services:
        document = services.lookup.find(name)
        found = services.timeline(
            document, before=before, after=after, same_collection=same_collection, as_of=as_of
        )
    if wants_json(ctx):
        show_json(order_of(found))
    else:
        _show_timeline(found)


@cli.command()
def sessions(ctx: typer.Context, limit: HowMany = 10, as_of: AsOf = "") -> None:
    """Who worked with the memory lately, and what came of it."""
    from clawmem.app.cli.rendering import show_json
    from clawmem.app.services.documents.sessions import latest_sessions
    from clawmem.app.services.retrieval.request import first_after
    from clawmem.ports.errors import InvalidInput

    if limit < 1:
        raise InvalidInput("OUT_OF_BOUNDS", f"{limit} sessions cannot be shown; choose 1 or more.")
    with opened(ctx, read_only=True) as services:
        found = latest_sessions(services.vault.sessions, limit, first_after(as_of))
    if wants_json(ctx):
        show_json(found)
    else:
        _show_sessions(found)


cli.command("log")(sessions)


def _ms_since(began: float) -> float:
    return (perf_counter() - began) * 1000


def _way(found: Retrieved) -> dict[str, Any]:
    """What an answer says about itself, as far as its way has something to say."""
    said = {
        "intent": found.intent,
        "confidence": found.confidence,
        "clauses": len(found.plan) or None,
        "plan": found.plan or None,
        "sessions": found.sessions or None,
    }
    return {"mode": found.mode, **{name: value for name, value in said.items() if value is not None}}


def _show(ctx: typer.Context, given: Given, said: dict[str, Any], explain: bool) -> None:
    from clawmem.app.cli.rendering import answer_record, show_answer, show_degraded, show_json

    receipt = given.receipt() if explain else None
    kept = given.record(lambda: receipt) if receipt else None
    if wants_json(ctx):
        show_json({**said, **answer_record(given.answer, receipt, kept)})
    else:
        _show_said(said)
        show_answer(given.answer, receipt)
    show_degraded(given.answer.trace)
    if receipt is None:
        given.record(given.receipt)  # when nobody waits any more


def _show_said(said: dict[str, Any]) -> None:
    from clawmem.app.cli.rendering import show

    if "mode" in said:
        show(f"[routed: {said['mode']}]")
    if "intent" in said:
        show(f"asks for: {said['intent']} ({said['confidence']:.2f})")
    if "plan" in said:
        _show_plan(said["plan"])
    if "sessions" in said:
        _show_sessions(said["sessions"])
    typer.echo()


def _show_plan(clauses: tuple[PlannedClause, ...]) -> None:
    from clawmem.app.cli.rendering import show_table

    rows = [(clause.priority, clause.type, clause.result_count, clause.query) for clause in clauses]
    show_table(("priority", "by", "found", "question"), rows)


def _show_sessions(found: list[Session] | tuple[Session, ...]) -> None:
    from clawmem.app.cli.rendering import show, show_table

    if not found:
        show("No sessions are written down yet.")
        return
    columns = ("session", "began", "minutes", "handed over in", "what came of it", "files")
    show_table(columns, [_session_row(session) for session in found])


def _session_row(session: Session) -> tuple[str, ...]:
    files = ", ".join(session.files_changed[:SHOWN_FILES])
    more = len(session.files_changed) - SHOWN_FILES
    return (
        session.id[:SHOWN_ID],
        session.started_at[:16].replace("T", " "),
        _minutes(session),
        session.handoff_path or "",
        " ".join(session.summary.split())[:SHOWN_SUMMARY],
        f"{files} and {more} more" if more > 0 else files,
    )


def _minutes(session: Session) -> str:
    from clawmem.domain.documents.times import parse_iso

    if session.ended_at is None:
        return "active"
    began, ended = parse_iso(session.started_at), parse_iso(session.ended_at)
    return "?" if began is None or ended is None else str(round((ended - began) / 60_000))


def _show_timeline(found: Timeline) -> None:
    from clawmem.app.cli.rendering import show, show_table

    marked = [("", entry) for entry in found.before] + [(">", found.focus)]
    marked += [("", entry) for entry in found.after]
    rows = [
        (
            mark,
            f"#{e.docid}",
            e.document.modified_at[:16].replace("T", " "),
            e.document.display_path,
            e.document.title,
        )
        for mark, e in marked
    ]
    show_table(("", "docid", "modified", "file", "title"), rows)
    if found.session:
        show(f"in session {found.session.id[:SHOWN_ID]}: {found.session.summary[:SHOWN_SUMMARY]}")
