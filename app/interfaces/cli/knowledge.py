"""Entities and facts of the vault, and the export of its graph: graph entities, facts, evolution, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.addresses import Note
from clawmem.app.interfaces.cli.session import one_of, opened, tell, wants_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said
    from clawmem.app.services.graph.export import Edge, Node

FORMATS = ("graphml", "jsonld")
LINES = 500  # lines of an export per write


def entities(
    ctx: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Words of a name, or how they begin.")
    ],
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="How many.")] = 10,
) -> None:
    """List the people, projects, tools and other things in documents."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.operations.output import printable, table
        from clawmem.app.records.entities import things_of

        found = things_of(services, " ".join(words), limit)
        if wants_json(ctx):
            return Said([json_part(found)])
        if not found["entities"]:
            return Said([printable(f"Nothing is known that is called {' '.join(words)}.")])
        rows = [tuple(one.values()) for one in found["entities"]]
        return Said([table(tuple(found["entities"][0]), rows)])

    tell(ctx, say)


def facts(
    ctx: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="A name, or an id that entities shows.")
    ],
    as_of: Annotated[str, typer.Option("--as-of", help="Only what held on this day.")] = "",
    direction: Annotated[str, typer.Option(help="outgoing, incoming or both.")] = "both",
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="How many.")] = 100,
) -> None:
    """List the facts about an entity, and when they held."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.operations.output import printable
        from clawmem.app.records.entities import counts_line, fact_lines, facts_of
        from clawmem.ports.triples import Direction

        way = one_of("--direction", direction, tuple(Direction))
        known = facts_of(services, " ".join(words), as_of, way, limit)
        if wants_json(ctx):
            return Said([json_part(known)])
        lines = [line for one in known["facts"] for line in fact_lines(one)] or [
            f"Nothing is known of {known['entity']['name']}."
        ]
        return Said([*map(printable, [*lines, counts_line(known["stats"])])])

    tell(ctx, say)


def evolution(
    ctx: typer.Context,
    name: Note,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="How many versions.")] = 10,
) -> None:
    """
    List the versions of the note about a document, newest first.

    Each version names the document that caused it.
    """

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said, json_part
        from clawmem.app.operations.output import printable
        from clawmem.app.records.evolution import evolution_lines, evolution_of

        found = evolution_of(services, services.lookup.find(name), limit)
        if wants_json(ctx):
            return Said([json_part(found)])
        lines = evolution_lines(found)
        nothing = f"Nothing is noted about {found['document']['file']} yet. Run: clawmem enrich"
        return Said([*map(printable, lines or [nothing])])

    tell(ctx, say)


def export(
    ctx: typer.Context,
    form: Annotated[str, typer.Option("--format", help="graphml or jsonld.")] = "graphml",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Into this file.", show_default=False)
    ] = None,
) -> None:
    """Export documents, entities, facts and relations as one graph."""
    from clawmem.app.services.graph.export import whole_graph

    write = _writer(one_of("--format", form, FORMATS))
    with opened(ctx, read_only=True) as services:
        blocks = _blocks(write(whole_graph(services.vault)))
        if output is None:
            for block in blocks:
                typer.echo(block, nl=False)
        else:
            _into(output, blocks)


def _writer(form: str) -> Callable[[Iterable[Node | Edge]], Iterator[str]]:
    from clawmem.app.services.graph.graphml import graphml
    from clawmem.app.services.graph.json_ld import json_ld

    return graphml if form == "graphml" else json_ld


def _blocks(lines: Iterator[str]) -> Iterator[str]:
    from itertools import islice

    while block := list(islice(lines, LINES)):
        yield "".join(f"{line}\n" for line in block)


def _into(output: Path, blocks: Iterator[str]) -> None:
    """Write *output* atomically: an existing file stays until the last line is written."""
    from clawmem.ports.errors import InvalidInput

    beside = output.with_name(f".{output.name}.new")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(blocks)
        beside.replace(output)
    except OSError as error:
        raise InvalidInput("INVALID_INPUT", f"{output} cannot be written: {error.strerror}.") from error
    finally:
        beside.unlink(missing_ok=True)
