"""Search by intent: intent-search."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.app.interfaces.cli.retrieval import (
    AsOf,
    Explain,
    Floor,
    Limit,
    MinScore,
    Question,
    ShowAll,
    Since,
    Tags,
    Types,
    Until,
    Words,
    answer,
)
from clawmem.app.interfaces.cli.session import Collections

cli = typer.Typer(rich_markup_mode=None)


@cli.callback()
def _family() -> None:
    """Make the command line a group even with one command."""


IntentName = Annotated[
    str, typer.Option("--intent", help="What it asks for: WHY, WHEN, ENTITY or WHAT.", show_default=False)
]
NoGraph = Annotated[bool, typer.Option("--no-graph", help="Do not follow relations.")]

AUTO = ""  # the intent is derived from the words of the question


@cli.command("intent-search")
def intent_search(
    ctx: typer.Context,
    words: Words,
    limit: Limit = 10,
    collection: Collections = None,
    intent: IntentName = AUTO,
    no_graph: NoGraph = False,
    min_score: MinScore = 0.0,
    since: Since = "",
    until: Until = "",
    as_of: AsOf = "",
    content_type: Types = None,
    tag: Tags = None,
    floor: Floor = 0.0,
    show_all: ShowAll = False,
    explain: Explain = False,
) -> None:
    """Find by the intent of the question; follows reasons and relations."""
    question = Question(
        words,
        limit,
        collection,
        min_score,
        since=since,
        until=until,
        as_of=as_of,
        content_types=content_type,
        tags=tag,
        floor=floor,
    )
    answer(
        ctx,
        "intent-search",
        question._replace(asks_for=intent, graph=not no_graph, show_all=show_all, explain=explain),
    )
