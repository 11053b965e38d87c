"""``POST /cli/VERB``: what a command says, for one that asks its server instead of opening the vault itself."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from clawmem.app.cli.main import QUESTIONS
from clawmem.app.cli.rendering import Part
from clawmem.app.cli.served import OWN
from clawmem.app.cli.session import Chosen, Say
from clawmem.app.opened import Services
from clawmem.app.rest.operation import Asked, Json, Operation
from clawmem.app.rest.reading import read_asked
from clawmem.app.serve.inside import Inside
from clawmem.ports.errors import InvalidInput, NotFound

ELSEWHERE = "The server answers from its own vault: leave out --vault, --backend and --alone."


class CommandLine(Asked):
    """A question as it was typed."""

    verb: str = Field(description=f"The command, one of: {', '.join(QUESTIONS)}.")
    arguments: list[str] = Field(description="What stands behind it.")


class Told(TypedDict):
    """
    What a command shows, part by part, text or a table, and by its name what could not be taken into account.

    Of a question that cannot be honoured ``refused`` says why, and ``exit_code`` is what the command leaves with.
    """

    parts: list[Part]
    degraded: dict[str, str]
    refused: str
    exit_code: int


async def command(inside: Inside, request: Request) -> Response:
    """What a command says."""
    line = await read_asked(CommandLine, request)
    say = read_arguments(line.verb, line.arguments)

    def do(services: Services) -> Told:
        said = say(services)
        said.later()
        return Told(parts=said.parts, degraded={**said.degraded}, refused="", exit_code=0)

    try:
        told = await inside.desk.read(do)
    except InvalidInput as error:
        told = Told(parts=[], degraded={}, refused=str(error), exit_code=error.exit_code)
    return Json(told)


def read_arguments(verb: str, arguments: Sequence[str]) -> Say:
    """
    What the command *verb* with *arguments* asks of a vault, and how it says it.

    Raises:
        InvalidInput: no such command, wrong usage, a call for help, or another vault.
    """
    if verb not in QUESTIONS:
        raise NotFound("command", verb, suggestions=QUESTIONS)
    from typer.main import get_command

    from clawmem.app.cli.command_line import USAGE, cli

    if any(one.partition("=")[0] in OWN for one in arguments):
        raise InvalidInput("INVALID_INPUT", ELSEWHERE)
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


OPERATIONS = (Operation("POST", "/cli/{verb}", "What a command says.", CommandLine, Told, command),)
