"""
Check of connected clients: the commands in their settings are started, and have to answer.

A hook is asked about notes of its vault, and has to add a block to one of the prompts.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os.path import exists
from time import monotonic
from typing import NamedTuple

from clawmem.app.bootstrap.hooks import hook_services
from clawmem.app.client.autostart import OFF_VARIABLE
from clawmem.app.environment.places import complete, default_vault
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.setup.clients import CLIENTS, Request, configured_commands, was_connected
from clawmem.app.services.setup.hooks import entry_of, vault_in
from clawmem.app.services.setup.parts import CLIENT_TITLES, PROMPT, ConfiguredCommand
from clawmem.ports.errors import ClawmemError, ConfigError

PATIENCE_S = 60.0
AT_ONCE = 2
TOOL = "status"
EVENT = {"hook_event_name": PROMPT[0], "session_id": "", "cwd": "/"}
MOST_PROMPTS, AMONG = 3, 50  # questions, about the newest notes; a title like "2026-03-01" names nothing
_CLEAN = ("HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "USER", "USERPROFILE", "SYSTEMROOT", "TEMP")


class Answer(NamedTuple):
    """Answer of a command: a phrase about it, or the fault and its remedy; without a remedy, setup is named."""

    told: str = ""
    fault: str = ""
    way_out: str = ""


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
    if is_ours:
        return CheckResult(CLIENT_TITLES[name], False, str(error), "Then run: clawmem setup --check")
    detail = f"whether it is connected is unknown, because its file cannot be read: {error}"
    return CheckResult(CLIENT_TITLES[name], True, detail, "Then run: clawmem setup --check")


def _finding(name: str, answers: list[Answer]) -> CheckResult:
    fault = next((one for one in answers if one.fault), None)
    if fault:
        way_out = fault.way_out or f"Run: clawmem setup {name}"
        return CheckResult(CLIENT_TITLES[name], False, fault.fault, way_out)
    return CheckResult(CLIENT_TITLES[name], True, ", ".join(dict.fromkeys(one.told for one in answers)))


def _answer(command: ConfiguredCommand, passed: Mapping[str, str]) -> Answer:
    """Start *command*, and return its answer. A check starts no server in the background."""
    from clawmem.adapters.system.client_commands import NoAnswer, tool_answer

    environ, began = {**passed, **command.environ, OFF_VARIABLE: "1"}, monotonic()
    words = [command.command] if isinstance(command.command, str) else command.command
    try:
        if not command.is_server:
            return _hook_answer(command.command, environ)
        tool_answer(words, TOOL, {}, environ, PATIENCE_S)
    except NoAnswer as error:
        return Answer(fault=f"{' '.join(words)} does not answer: {error}")
    return Answer(f"tools answer in {monotonic() - began:.1f} s")


def _hook_answer(command: str | Sequence[str], environ: Mapping[str, str]) -> Answer:
    """
    Ask about notes of the vault until the hook adds a block.

    Raises:
        NoAnswer: the command fails, or prints something else than an answer.
    """
    from clawmem.adapters.system.client_commands import NoAnswer, hook_answer

    vault, titles = _titles(command, environ)
    for title in titles or ["my notes"]:
        began = monotonic()
        event = {**EVENT, "prompt": f"What do my notes say about {title}?"}
        answer = hook_answer(command, event, environ, PATIENCE_S)
        if "continue" not in answer:
            raise NoAnswer("it printed an answer without 'continue'")
        added = answer.get("hookSpecificOutput")
        if isinstance(added, dict) and added.get("additionalContext"):
            return Answer(f"hooks answer in {monotonic() - began:.1f} s")
    if not titles:
        why = f"there are no notes in {vault}" if exists(vault) else f"there is no vault at {vault}"  # noqa: PTH110
        return Answer(fault=f"hooks add nothing: {why}.", way_out="Run: clawmem bootstrap PATH")
    asked = ", ".join(f'"{title}"' for title in titles)
    return Answer(
        fault=f"hooks add nothing to questions about notes of {vault}: {asked}.",
        way_out=f"Try: clawmem query {shlex.quote(titles[0])}",
    )


def _titles(command: str | Sequence[str], environ: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the vault that the hook of *command* finds, and titles of notes in it; those of most words first."""
    variables = {**environ}
    if named := vault_in(command):
        variables["INDEX_PATH"] = named
    complete(variables)
    try:
        with hook_services(variables) as services:
            notes = services.vault.documents.latest(limit=AMONG) if services else []
    except ClawmemError:  # doctor examines the vault
        notes = []
    titles = dict.fromkeys(note.title for note in notes if not note.collection.startswith("_"))
    return str(default_vault(variables)), sorted(titles, key=lambda title: -len(title.split()))[:MOST_PROMPTS]
