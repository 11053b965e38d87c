"""Check of connected clients: the commands in their settings are started, and have to answer."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic

from clawmem.app.client.autostart import OFF_VARIABLE
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.setup.client_names import CLIENT_TITLES
from clawmem.app.services.setup.clients import CLIENTS, Request, configured_commands, was_connected
from clawmem.app.services.setup.mcp import entry_of
from clawmem.app.services.setup.parts import PROMPT, ConfiguredCommand
from clawmem.ports.errors import ConfigError

PATIENCE_S = 60.0
AT_ONCE = 2
TOOL = "status"
EVENT = {"hook_event_name": PROMPT[0], "prompt": "What do my notes say?", "session_id": "", "cwd": "/"}
_CLEAN = ("HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "USER", "USERPROFILE", "SYSTEMROOT", "TEMP")

Answer = tuple[str, str]
"""A phrase about the answer of a command, and what went wrong; one of the two is empty."""


def client_answers(environ: Mapping[str, str]) -> list[CheckResult]:
    """
    Return a finding for each client that is connected in the user's settings.

    Each different command is started once, with the variables that its client passes on.
    """
    request = Request(environ, (sys.executable,), entry_of(["clawmem", "mcp"]))
    findings, asked = [], dict[str, list[Future[Answer]]]()
    started: dict[str, Future[Answer]] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, client in CLIENTS.items():
            passed = {
                one: value for one, value in environ.items() if not client.starts_clean or one in _CLEAN
            }
            try:
                commands = configured_commands(name, request)
            except ConfigError as error:
                findings.append(_unreadable(name, error, was_connected(name, request)))
                continue
            for command in commands:
                key = repr((command, client.starts_clean))
                if key not in started:
                    started[key] = pool.submit(_answer, command, passed)
                asked.setdefault(name, []).append(started[key])
    findings += [_finding(name, [one.result() for one in answers]) for name, answers in asked.items()]
    return findings


def _unreadable(name: str, error: ConfigError, is_ours: bool) -> CheckResult:
    detail = str(error) if is_ours else f"not connected (its file cannot be read: {error})"
    return CheckResult(CLIENT_TITLES[name], not is_ours, detail)


def _finding(name: str, answers: list[Answer]) -> CheckResult:
    faults = [fault for _, fault in answers if fault]
    if faults:
        remedy = "" if "clawmem bootstrap" in faults[0] else f"Run: clawmem setup {name}"
        return CheckResult(CLIENT_TITLES[name], False, faults[0], remedy)
    return CheckResult(CLIENT_TITLES[name], True, ", ".join(dict.fromkeys(told for told, _ in answers)))


def _answer(command: ConfiguredCommand, passed: Mapping[str, str]) -> Answer:
    """Start *command*, and return what became of it. A check starts no server in the background."""
    from clawmem.adapters.system.client_commands import NoAnswer, hook_answer, tool_answer

    environ, began = {**passed, **command.environ, OFF_VARIABLE: "1"}, monotonic()
    words = [command.command] if isinstance(command.command, str) else command.command
    try:
        if command.is_server:
            tool_answer(words, TOOL, {}, environ, PATIENCE_S)
        elif "continue" not in hook_answer(command.command, EVENT, environ, PATIENCE_S):
            raise NoAnswer("it printed an answer without 'continue'")
    except NoAnswer as error:
        return "", f"{' '.join(words)} does not answer: {error}"
    what = "tools answer" if command.is_server else "hooks answer"
    return f"{what} in {monotonic() - began:.1f} s", ""
