"""A prompt that searches while the user types, or line by line without its library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from clawmem.app.interfaces.cli import dialogues
from clawmem.app.interfaces.cli.editing import edit_first
from clawmem.app.interfaces.cli.rendering import show_json, show_part
from clawmem.app.interfaces.cli.session import command_group, opened, wants_json
from clawmem.app.operations.answer_text import NO_CONFIDENT_ANSWER, is_unlikely, result_parts
from clawmem.app.operations.answering import answer_of
from clawmem.app.operations.output import Part, parts_of
from clawmem.app.operations.search import Query, ask, retrieval_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.live_search import LiveSearch
    from clawmem.app.operations.answers import FoundDocument, SearchAnswer

cli = command_group()

SHOWN = 5  # results below the prompt
WITHOUT_LIBRARY = (
    "To search while you type: pip install 'clawmem[prompt]'. Now a question is answered after Enter; a number opens "
    "that result in your editor, and an empty line ends."
)


@cli.command()
def prompt(ctx: typer.Context) -> None:
    """
    Search as you type. The same as clawmem alone on a terminal.

    Up and Down choose a result, Enter opens it in your editor, Escape ends. Questions are not recorded. In a pipe, and
    without the extra prompt, each line is answered after its end.
    """
    if not dialogues.may_ask(ctx):
        _ask_by_line(ctx)
        return
    try:
        from clawmem.app.interfaces.cli.live_search import LiveSearch
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "prompt_toolkit":
            raise
        typer.echo(WITHOUT_LIBRARY, err=True)
        _ask_by_line(ctx)
        return
    _search_live(ctx, LiveSearch(lambda: opened(ctx, read_only=True, or_read=True)))


def _search_live(ctx: typer.Context, live: LiveSearch) -> None:
    """Search until the user ends the prompt; a note that was opened leads back to the same question."""
    with live:
        while chosen := live.run():
            edit_first(ctx, [chosen])


def _ask_by_line(ctx: typer.Context) -> None:
    """Answer the lines of the user, until a line is empty or the input ends."""
    found: Sequence[FoundDocument] = []
    while line := _line("clawmem> " if dialogues.may_ask(ctx) else ""):
        if line.isdecimal() and 1 <= int(line) <= len(found):
            edit_first(ctx, [found[int(line) - 1]])
            continue
        with opened(ctx, read_only=True, or_read=True) as services:
            answer = answer_to(services, line)
        found = answer.results
        if wants_json(ctx):
            show_json(answer.record())
            continue
        for part in parts_of(answer_lines(answer)):
            show_part(part)


def _line(shown: str) -> str:
    try:
        return input(shown).strip()
    except EOFError:
        return ""


def answer_to(services: Services, question: str) -> SearchAnswer:
    """Return the best results of `query` for *question*; nothing is recorded."""
    request = retrieval_request(services, Query(query=question, limit=SHOWN))
    return answer_of(ask(services, "query", request), services.settings, {})


def answer_lines(answer: SearchAnswer) -> list[Part]:
    """Return the results with their numbers, or a sentence if nothing is likely to answer."""
    if not answer.results:
        return [f"Nothing found for: {answer.query}"]
    lines: list[Part] = [NO_CONFIDENT_ANSWER] if is_unlikely(answer) else []
    for number, result in enumerate(answer.results, 1):
        place, *rest = result_parts(result)
        lines += [type(place)(f"{number}  {place}") if isinstance(place, str) else place, *rest]
    return lines
