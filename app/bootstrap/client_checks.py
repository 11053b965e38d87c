"""Check of connected clients: their configured commands are started, and have to answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import monotonic

from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.setup.client_names import CLIENT_TITLES
from clawmem.app.services.setup.clients import CLIENTS, Request, configured_commands
from clawmem.app.services.setup.parts import PROMPT, ConfiguredCommand
from clawmem.ports.errors import ConfigError

PATIENCE_S = 30.0
TOOL = "status"
EVENT = {"hook_event_name": PROMPT[0], "prompt": "hello", "session_id": "", "cwd": "/"}
_CLEAN = ("HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "USER", "USERPROFILE", "SYSTEMROOT", "TEMP")


def client_answers(request_for: Callable[[str], Request]) -> list[CheckResult]:
    """Return a finding for each connected client; *request_for* returns the request for its name."""
    findings = (_finding(name, request_for(name)) for name in CLIENTS)
    return [one for one in findings if one is not None]


def _finding(name: str, request: Request) -> CheckResult | None:
    """Return the finding about a client; ``None`` if it is not connected."""
    check, remedy = CLIENT_TITLES[name], f"Run: clawmem setup {name}"
    from clawmem.adapters.system.client_commands import NoAnswer

    try:
        commands = configured_commands(name, request)
    except ConfigError as error:
        return CheckResult(check, False, str(error), "")
    if not commands:
        return None
    environ = {
        one: value
        for one, value in request.environ.items()
        if not CLIENTS[name].starts_clean or one in _CLEAN
    }
    told: list[str] = []
    for command in commands:
        try:
            told += _told(command, environ)
        except NoAnswer as error:
            shown = command.command if isinstance(command.command, str) else " ".join(command.command)
            return CheckResult(check, False, f"{shown} does not answer: {error}", remedy)
    return CheckResult(check, True, ", ".join(dict.fromkeys(told)))


def _told(command: ConfiguredCommand, environ: Mapping[str, str]) -> Iterator[str]:
    """
    Yield a phrase about the answer of *command*.

    Raises:
        NoAnswer: there is none.
    """
    from clawmem.adapters.system.client_commands import NoAnswer, hook_answer, tool_answer

    environ, began = {**environ, **command.environ, "CLAWMEM_NO_SERVER": "1"}, monotonic()
    if command.is_server:
        words = [command.command] if isinstance(command.command, str) else command.command
        tool_answer(words, TOOL, {}, environ, PATIENCE_S)
        yield f"tools answer ({monotonic() - began:.1f} s)"
        return
    if "continue" not in hook_answer(command.command, EVENT, environ, PATIENCE_S):
        raise NoAnswer("it printed an answer without 'continue'")
    yield f"hooks answer ({monotonic() - began:.1f} s)"
