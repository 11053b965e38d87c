"""``POST /cli/VERB``: what a command says, for one that asks its server instead of opening the vault itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from clawmem.app.cli.arguments import JSON, QUESTIONS, is_question, parted
from clawmem.app.cli.leaving import error_record
from clawmem.app.cli.rendering import Part, Said
from clawmem.app.cli.session import Chosen, Say
from clawmem.app.opened import Services
from clawmem.app.rest.operation import Asked, Json, Operation
from clawmem.app.rest.reading import read_asked
from clawmem.app.serve.inside import Inside
from clawmem.app.serve.workers import Busy
from clawmem.app.settings import Settings
from clawmem.app.vaults import at_vault
from clawmem.ports.errors import ClawmemError, IndexBusy, InvalidInput, NotFound, VaultLocked

ELSEWHERE = "The server answers from a vault that it keeps open: leave out --vault, --backend and --alone."

# Of these a command that asks again is spared, when it asks alone a moment later.
PASSING = (Busy, VaultLocked, IndexBusy)


class CommandLine(Asked):
    """A question as it was typed."""

    verb: str = Field(description=f"The command, or its first word, one of: {', '.join(QUESTIONS)}.")
    arguments: list[str] = Field(description="What stands behind it.")
    vault: str | None = Field(
        None, description="A vault by its name, or the file of this server's own; without it that one."
    )


class Told(TypedDict):
    """
    What a command shows, part by part, text, a table or a text to be given on as it is; by its name what could not be
    taken into account, and what else is said beside it.

    ``refused`` is the error record of a command that failed, and ``exit_code`` what the command exits with.
    """

    parts: list[Part]
    degraded: dict[str, str]
    asides: list[str]
    refused: dict[str, Any] | None
    exit_code: int


async def command(inside: Inside, request: Request) -> Response:
    """What a command says."""
    line = await read_asked(CommandLine, request)
    say = read_arguments(line.verb, line.arguments)
    name = None if line.vault is None else vault_meant(inside.desk.settings, line.vault)

    def do(services: Services) -> Told:
        said = say(services)
        said.later()
        return _told(said)

    try:
        told = await inside.desk.read(do, name)
    except PASSING:
        raise
    except ClawmemError as error:  # said here, or the command would only find the same once more
        told = _told(Said([]), error_record(error), error.exit_code)
    return Json(told)


def vault_meant(settings: Settings, said: str) -> str | None:
    """
    The name of the vault that is *said* by its name; ``None`` where it is the one of *settings*, said by its file.

    Raises:
        NotFound: neither; what else it may mean the command knows itself.
    """
    if said in settings.vaults:
        return said
    own = Path(said).is_absolute() and os.path.realpath(said) == os.path.realpath(settings.vault)
    if own and at_vault(settings, Path(said)).named is None:
        return None
    raise NotFound("vault", said, suggestions=sorted(settings.vaults))


def read_arguments(verb: str, arguments: Sequence[str]) -> Say:
    """
    What the command *verb* with *arguments* asks of a vault, and how it says it.

    Raises:
        InvalidInput: no such command, wrong usage, a call for help, or another vault.
    """
    front, rest = parted(arguments)
    if not is_question([verb, *rest]):
        raise NotFound("command", verb, suggestions=QUESTIONS)
    if any(one != JSON for one in front):
        raise InvalidInput("INVALID_INPUT", ELSEWHERE)
    from typer.main import get_command

    from clawmem.app.cli.command_line import USAGE, cli

    said: list[Say] = []
    root = get_command(cli)
    try:
        # Help would be printed here, where nobody reads it.
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


OPERATIONS = (Operation("POST", "/cli/{verb}", "What a command says.", CommandLine, Told, command),)
