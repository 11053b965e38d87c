"""
Check of connected clients: the commands in their settings are started, and have to answer.

A hook is asked about notes of its vault, and has to add a block to one of the prompts.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from clawmem.app.client.autostart import OFF_VARIABLE
from clawmem.app.environment.places import complete, default_vault, is_there
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.setup.clients import CLIENTS, Request, configured_commands, was_connected
from clawmem.app.services.setup.hooks import entry_of, vault_in
from clawmem.app.services.setup.parts import CLIENT_TITLES, PROMPT, ConfiguredCommand
from clawmem.ports.errors import ConfigError

PATIENCE_S = 60.0
AT_ONCE = 2
TOOL = "status"
EVENT = {"hook_event_name": PROMPT[0], "session_id": "", "cwd": "/"}
# Variables that a client passes on which starts commands with a clean environment.
_CLEAN = ("HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "USER", "USERPROFILE", "SYSTEMROOT", "TEMP")


class Answer(NamedTuple):
    """Answer of a command: a phrase about it, or its fault and the remedy; without a remedy, setup is named."""

    phrase: str = ""
    fault: str = ""
    remedy: str = ""


class ClientChecks(NamedTuple):
    """
    Checks of the clients that are connected in the user's settings.

    Attributes:
        hook_answer: Starts a hook, and returns the object that it prints; raises `OSError` if it fails.
        tool_answer: Starts an MCP server, and calls a tool; raises `OSError` if it fails.
        titles_in: Returns some titles of notes in the vault that an environment names.
    """

    hook_answer: Callable[..., dict[str, Any]]
    tool_answer: Callable[..., str]
    titles_in: Callable[[Mapping[str, str]], Sequence[str]]

    def __call__(self, environ: Mapping[str, str]) -> list[CheckResult]:
        """
        Return a finding for each connected client.

        Each different command is started once, with the variables that its client passes on.
        """
        request = Request(environ, (sys.executable,), entry_of(["clawmem", "mcp"]))
        findings, commands = [], dict[str, dict[str, Callable[[], Answer]]]()
        for name, client in CLIENTS.items():
            clean = {variable: environ[variable] for variable in _CLEAN if variable in environ}
            try:
                configured = configured_commands(name, request)
            except ConfigError as error:
                was_ours = was_connected(name, request)
                doubt = (
                    ""
                    if was_ours
                    else "whether it is connected is unknown, because its file cannot be read: "
                )
                remedy = "Then run: clawmem setup --check"
                findings.append(CheckResult(CLIENT_TITLES[name], not was_ours, f"{doubt}{error}", remedy))
                continue
            passed = clean if client.starts_clean else environ
            commands[name] = {
                repr((command, client.starts_clean)): partial(self._answer, command, passed)
                for command in configured
            }
        with ThreadPoolExecutor(AT_ONCE) as pool:
            started = {key: pool.submit(ask) for asked in commands.values() for key, ask in asked.items()}
        for name, asked in commands.items():
            answers = [started[key].result() for key in asked]
            if fault := next((answer for answer in answers if answer.fault), None):
                remedy = fault.remedy or f"Run: clawmem setup {name}"
                findings.append(CheckResult(CLIENT_TITLES[name], False, fault.fault, remedy))
            elif answers:
                phrases = ", ".join(dict.fromkeys(answer.phrase for answer in answers))
                findings.append(CheckResult(CLIENT_TITLES[name], True, phrases))
        return findings

    def _answer(self, command: ConfiguredCommand, passed: Mapping[str, str]) -> Answer:
        """Start *command*, and return its answer. A check starts no server in the background."""
        if command.fault:
            return Answer(fault=command.fault)
        environ, began = {**passed, **command.environ, OFF_VARIABLE: "1"}, monotonic()
        words = [command.command] if isinstance(command.command, str) else command.command
        try:
            if not command.is_server:
                return self._hook_answer(command.command, environ)
            self.tool_answer(words, TOOL, {}, environ, PATIENCE_S)
        except (OSError, ConfigError) as error:
            return Answer(fault=f"{' '.join(words)} does not answer: {error}")
        return Answer(f"tools answer in {monotonic() - began:.1f} s")

    def _hook_answer(self, command: str | Sequence[str], environ: Mapping[str, str]) -> Answer:
        """Ask about notes of the vault until the hook adds a block."""
        variables = {**environ}
        if named := vault_in(command):
            variables["INDEX_PATH"] = named
        complete(variables)
        vault, titles = default_vault(variables), self.titles_in(variables)
        for title in titles or ["my notes"]:
            began = monotonic()
            event = {**EVENT, "prompt": f"What do my notes say about {title}?"}
            answer = self.hook_answer(command, event, environ, PATIENCE_S)
            if "continue" not in answer:
                raise OSError("it printed an answer without 'continue'")
            if (answer.get("hookSpecificOutput") or {}).get("additionalContext"):
                return Answer(f"hooks answer in {monotonic() - began:.1f} s")
        if not titles:
            reason = f"there are no notes in {vault}" if is_there(vault) else f"there is no vault at {vault}"
            return Answer(fault=f"hooks add nothing: {reason}.", remedy="Run: clawmem bootstrap PATH")
        quoted = ", ".join(f'"{title}"' for title in titles)
        return Answer(
            fault=f"hooks add nothing to questions about notes of {vault}: {quoted}.",
            remedy=f"Try: clawmem query {shlex.quote(titles[0])}",
        )
