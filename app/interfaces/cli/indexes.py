"""The indexes of the vault: rebuild, migrate."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.app.interfaces.cli.session import one_of, opened, wants_json

cli = typer.Typer(rich_markup_mode=None)


@cli.command()
def rebuild(
    ctx: typer.Context,
    index: Annotated[str, typer.Option(help="Which one: lexical, vectors or all.")] = "all",
) -> None:
    """Rebuild an index from the records and replace the old one."""
    from clawmem.app.interfaces.cli.progress import progress
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.ports.records import Role

    chosen = one_of("--index", index, ("all", *Role))
    roles = [role for role in Role if chosen in ("all", role)]
    with opened(ctx) as services:
        for role in roles:
            with progress(f"Building the {role} index") as step:
                services.vault.rebuild(role, step)
        info = services.vault.info()
    if wants_json(ctx):
        show_json({"rebuilt": roles, "lexical": info.lexical_method, "vectors": info.vector_method})
    else:
        show(f"Made anew: {', '.join(roles)} ({info.lexical_method}; {info.vector_method}).")


@cli.command()
def migrate(
    ctx: typer.Context,
    to: Annotated[str, typer.Option("--to", help="The backend that shall keep the indexes.")],
) -> None:
    """
    Move the indexes to another backend, or resume a move.

    The vault stays searchable during the move.
    """
    from clawmem.app.bootstrap.backends import refuse_unknown
    from clawmem.app.interfaces.cli.progress import progress
    from clawmem.app.interfaces.cli.rendering import show, show_json

    refuse_unknown(to)
    with opened(ctx, any_backend=True) as services:
        before = services.vault.backend
        with progress(f"Moving to {to}") as step:
            services.vault.move(to, step)
        info = services.vault.info()
    if wants_json(ctx):
        show_json({"from": before, "to": to, "lexical": info.lexical_method, "vectors": info.vector_method})
    else:
        show(f"From {before} to {to}: words by {info.lexical_method}, vectors by {info.vector_method}.")
