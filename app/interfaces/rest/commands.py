"""``POST /cli/VERB``: the output of a command, for a command that asks its server instead of opening the vault."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.cli.arguments import JSON, QUESTIONS, is_question, parted
from clawmem.app.interfaces.cli.leaving import error_record
from clawmem.app.interfaces.cli.rendering import Said
from clawmem.app.interfaces.cli.session import Chosen, Say
from clawmem.app.interfaces.rest.operation import Asked, Json
from clawmem.app.interfaces.rest.routes import RestRoute
from clawmem.app.operations.output import Part
from clawmem.app.serve.inside import Inside
from clawmem.app.serve.workers import Busy
from clawmem.app.settings import Settings
from clawmem.app.vaults import at_vault
from clawmem.ports.errors import ClawmemError, IndexBusy, InvalidInput, NotFound, VaultLocked

ELSEWHERE = "The server answers from a vault that it keeps open: leave out --vault, --backend and --alone."

# Temporary errors: the command does not report them, because it repeats the work itself a moment later.
PASSING = (Busy, VaultLocked, IndexBusy)


class CommandLine(Asked):
    """A question as typed on the command line."""

    verb: str = Field(description=f"The command, or its first word, one of: {', '.join(QUESTIONS)}.")
    arguments: list[str] = Field(description="What stands behind it.")
    vault: str | None = Field(
        None, description="A vault by its name, or the file of this server's own; without it that one."
    )


class Told(TypedDict):
    """
    The output of a command: its parts, degraded parts of the search with reasons, and remarks for stderr.

    A part is text, a table, or a text to be written unchanged. ``refused`` is the error record of a command that
    failed, and ``exit_code`` is the exit code of the command.
    """

    parts: list[Part]
    degraded: dict[str, str]
    asides: list[str]
    refused: dict[str, Any] | None
    exit_code: int


async def command(inside: Inside, line: CommandLine) -> Json:
    """Return the output of a command."""
    say = read_arguments(line.verb, line.arguments)
    name = None if line.vault is None else vault_meant(inside.dispatcher.settings, line.vault)

    def do(services: Services) -> Told:
        said = say(services)
        said.later()
        return _told(said)

    try:
        told = await inside.dispatcher.read(do, name)
    except PASSING:
        raise
    except ClawmemError as error:  # returned here, because the command would fail with the same error
        told = _told(Said([]), error_record(error), error.exit_code)
    return Json(told)


def vault_meant(settings: Settings, said: str) -> str | None:
    """
    Return the name of the vault *said*; ``None`` if *said* is the file of the vault of *settings*.

    Raises:
        NotFound: *said* is neither; the command then resolves it itself.
    """
    if said in settings.vaults:
        return said
    own = Path(said).is_absolute() and os.path.realpath(said) == os.path.realpath(settings.vault)
    if own and at_vault(settings, Path(said)).named is None:
        return None
    raise NotFound("vault", said, suggestions=sorted(settings.vaults))


def read_arguments(verb: str, arguments: Sequence[str]) -> Say:
    """
    Return the function that produces the output of the command *verb* with *arguments* for a vault.

    Raises:
        InvalidInput: There is no such command, its usage is wrong, it asks for help, or it names another vault.
    """
    front, rest = parted(arguments)
    if not is_question([verb, *rest]):
        raise NotFound("command", verb, suggestions=QUESTIONS)
    if any(one != JSON for one in front):
        raise InvalidInput("INVALID_INPUT", ELSEWHERE)
    from typer.main import get_command

    from clawmem.app.interfaces.cli.command_line import USAGE, cli

    said: list[Say] = []
    root = get_command(cli)
    try:
        # Help would be printed by the server, where the user does not see it.
        context = root.make_context(
            "clawmem", [verb, *arguments], obj=Chosen(hand_on=said.append), help_option_names=[]
        )
        with context:
            root.invoke(context)
    except USAGE as error:
        raise InvalidInput("INVALID_INPUT", error.format_message()) from error
    return said[0]


def _told(said: Said, refused: dict[str, Any] | None = None, exit_code: int = 0) -> Told:
    return {
        "parts": said.parts,
        "degraded": {**said.degraded},
        "asides": [*said.asides],
        "refused": refused,
        "exit_code": exit_code,
    }


OPERATIONS = (RestRoute("POST", "/cli/{verb}", "What a command says.", CommandLine, Told, command),)
