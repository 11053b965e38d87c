"""Export of the graph, which is too large for one result, and the other commands of ``clawmem graph``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from clawmem.app.interfaces.cli.operations import commands_in
from clawmem.app.interfaces.cli.session import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = 500  # lines of an export per write


def export(
    ctx: typer.Context,
    form: Annotated[Literal["graphml", "jsonld"], typer.Option("--format", help="The format.")] = "graphml",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file.", show_default=False)
    ] = None,
) -> None:
    """Export documents, entities, facts and relations as one graph."""
    from clawmem.app.services.graph.export import whole_graph
    from clawmem.app.services.graph.graphml import graphml
    from clawmem.app.services.graph.json_ld import json_ld

    write = graphml if form == "graphml" else json_ld
    with opened(ctx, read_only=True) as services:
        blocks = _blocks(write(whole_graph(services.vault)))
        if output is None:
            for block in blocks:
                typer.echo(block, nl=False)
        else:
            _into(output, blocks)


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


cli = commands_in(("graph", "knowledge"), "graph", {"graph export": export})
