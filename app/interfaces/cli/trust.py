"""Trust in collections: trust list, trust set."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import opened, settings_of, settings_of_usual, wants_json
from clawmem.domain.security.origin import TRUST

cli = typer.Typer(rich_markup_mode=None)
trust = typer.Typer(cls=Verbs, rich_markup_mode=None, help="Set and list the trust in collections.")
cli.add_typer(trust, name="trust")


@trust.command("list")
def list_all(ctx: typer.Context) -> None:
    """List the collections of the config file with their trust."""
    from clawmem.app.interfaces.cli.rendering import show, show_json, show_table

    rows = [{"name": name, "trust": one.trust} for name, one in settings_of(ctx).collections.items()]
    if wants_json(ctx):
        show_json(rows)
    elif not rows:
        show("No collections yet. Run: clawmem collection add PATH")
    else:
        show_table(("name", "trust"), [tuple(row.values()) for row in rows])


@trust.command("set")
def set_trust(
    ctx: typer.Context,
    collection: Annotated[str, typer.Argument(help="The collection's name.")],
    level: Annotated[str, typer.Argument(help="user, shared or outside.", metavar="LEVEL")],
) -> None:
    """
    Set the trust in a collection: user, shared or outside.

    Notes of a collection that is shared or from outside are quoted in prompts, and parts of them that give orders
    to an assistant are left out. A note can lower its own trust by a tag such as origin:imported, and never raise it.
    """
    from clawmem.app.config_file import choose_trust
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.ports.errors import InvalidInput

    if level not in TRUST:
        raise InvalidInput("INVALID_INPUT", f"{level!r} is not a level of trust. Choose: {', '.join(TRUST)}.")
    settings = settings_of_usual(ctx, "trust set")
    choose_trust(settings.config_file, collection, level)
    changed = _record(ctx, collection, level) if settings.vault.exists() else 0
    if wants_json(ctx):
        show_json({"name": collection, "trust": level, "changed": changed})
    else:
        show(f"Collection {collection}: trust {level}; {changed} documents changed.")


def _record(ctx: typer.Context, collection: str, level: str) -> int:
    from clawmem.app.services.indexing.trusting import record_trust

    with opened(ctx) as services:
        known = services.vault.documents.sources(collection).values()
        return record_trust(services.vault, known, TRUST[level])
