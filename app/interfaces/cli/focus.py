"""The topic of a session: focus set, show, clear."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import wants_json

if TYPE_CHECKING:
    from clawmem.app.environment.session_topics import Topics

cli = typer.Typer(rich_markup_mode=None)
focus = typer.Typer(cls=Verbs, rich_markup_mode=None, help="Let a session keep to a topic.")
cli.add_typer(focus, name="focus")

SessionId = Annotated[
    str, typer.Option("--session-id", help="Session; by default the one that runs this command.")
]


@cli.callback()
def _verbs() -> None:
    """Make the command line a group even with one command."""


@focus.command("set")
def set_topic(
    ctx: typer.Context,
    topic: Annotated[list[str], typer.Argument(help="The topic, up to 256 characters.", metavar="TOPIC...")],
    session_id: SessionId = "",
) -> None:
    """Set the topic of a session: notes about it are ranked first."""
    session = _session(session_id)
    _show(ctx, session, _topics().set(session, " ".join(topic)))


@focus.command("show")
def show_topic(ctx: typer.Context, session_id: SessionId = "") -> None:
    """Show the topic of a session."""
    session = _session(session_id)
    _show(ctx, session, _topics().get(session))


@focus.command("clear")
def clear_topic(ctx: typer.Context, session_id: SessionId = "") -> None:
    """Remove the topic of a session."""
    session = _session(session_id)
    _topics().clear(session)
    _show(ctx, session, "")


def _topics() -> Topics:
    from clawmem.app.environment.session_topics import Topics
    from clawmem.app.settings.plain import topics_place

    return Topics(topics_place(os.environ))


def _session(given: str) -> str:
    from clawmem.app.client.hook_registry import SESSION_VARIABLES
    from clawmem.ports.errors import InvalidInput

    known = [given, *(os.environ.get(name, "") for name in SESSION_VARIABLES)]
    if session := next(filter(None, known), ""):
        return session
    raise InvalidInput("INVALID_INPUT", "No session is known here. Name it: --session-id ID")


def _show(ctx: typer.Context, session: str, topic: str) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_json

    if wants_json(ctx):
        show_json({"session_id": session, "topic": topic or None})
    else:
        show(topic or "This session keeps to no topic.")
