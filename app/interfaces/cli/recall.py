"""Questions beyond plain search: retrieve, plan, similar, timeline, sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.addresses import Note
from clawmem.app.interfaces.cli.retrieval import (
    AsOf,
    Explain,
    Floor,
    Limit,
    Question,
    ShowAll,
    Since,
    Tags,
    Types,
    Until,
    Words,
    answer,
)
from clawmem.app.interfaces.cli.session import Collections, tell, wants_json

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said

cli = typer.Typer(rich_markup_mode=None)

HowMany = Annotated[int, typer.Option("-n", "--num", "--limit", "--last", help="How many.")]


@cli.command()
def retrieve(
    ctx: typer.Context,
    words: Words,
    mode: Annotated[
        str, typer.Option(help="timeline, causal, discovery, complex, keyword, semantic, hybrid or auto.")
    ] = "auto",
    limit: Limit = 10,
    collection: Collections = None,
    since: Since = "",
    until: Until = "",
    as_of: AsOf = "",
    content_type: Types = None,
    tag: Tags = None,
    floor: Floor = 0.0,
    show_all: ShowAll = False,
    explain: Explain = False,
) -> None:
    """Find by the route that fits the question. Begin here."""
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
    answer(ctx, "retrieve", question._replace(mode=mode, show_all=show_all, explain=explain))


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
    show_all: ShowAll = False,
    explain: Explain = False,
) -> None:
    """Split a question into its topics and merge the answers."""
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
    answer(ctx, "plan", question._replace(show_all=show_all, explain=explain))


@cli.command()
def similar(
    ctx: typer.Context,
    name: Note,
    limit: Annotated[int, typer.Option("-n", "--num", "--limit", help="How many, 1 to 100.")] = 5,
    as_of: AsOf = "",
) -> None:
    """List the documents nearest to a document in meaning."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.answering import answer_parts
        from clawmem.app.interfaces.cli.rendering import Said, json_part, result_record
        from clawmem.app.records.documents import place_of

        document = services.lookup.find(name)
        found = services.find_similar(document, now_ms=services.clock.now_ms(), limit=limit, as_of=as_of)
        degraded = found.answer.trace.degraded
        if not wants_json(ctx):
            return Said([*answer_parts(found.answer)], degraded)
        reference = place_of(services, document)
        results = [result_record(result) for result in found.answer.results]
        return Said([json_part({"reference": reference, "results": results})], degraded)

    tell(ctx, say)


@cli.command()
def timeline(
    ctx: typer.Context,
    name: Note,
    before: Annotated[int, typer.Option(help="How many that were written before it, 1 to 20.")] = 5,
    after: Annotated[int, typer.Option(help="How many that were written after it, 1 to 20.")] = 5,
    same_collection: Annotated[
        bool, typer.Option("--same-collection", help="Only of its collection.")
    ] = False,
    as_of: AsOf = "",
) -> None:
    """List the notes written just before and after a note."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.history import timeline_parts
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.records.documents import order_of

        document = services.lookup.find(name)
        found = services.timeline(
            document, before=before, after=after, same_collection=same_collection, as_of=as_of
        )
        return Said([json_part(order_of(found))] if wants_json(ctx) else timeline_parts(found))

    tell(ctx, say)


@cli.command()
def sessions(ctx: typer.Context, limit: HowMany = 10, as_of: AsOf = "") -> None:
    """List the latest sessions and their results."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.history import sessions_part
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.services.documents.sessions import latest_sessions
        from clawmem.app.services.retrieval.request import first_after
        from clawmem.ports.errors import InvalidInput

        if limit < 1:
            raise InvalidInput("OUT_OF_BOUNDS", f"{limit} sessions cannot be shown; choose 1 or more.")
        found = latest_sessions(services.vault.sessions, limit, first_after(as_of))
        return Said([json_part(found) if wants_json(ctx) else sessions_part(found)])

    tell(ctx, say)


cli.command("log")(sessions)
