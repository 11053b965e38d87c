"""
Checks of the agents to which clawmem is connected.

The settings are read; then the commands in them are started, and have to answer. A hook is asked about notes of its
vault, and has to add a block to one of the prompts.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from clawmem.app.client.autostart import OFF_VARIABLE
from clawmem.app.client.connection import VAULT, installed_options
from clawmem.app.client.hook_registry import call_named
from clawmem.app.environment.places import complete, default_vault, is_there
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.ports.clients import Clients, ClientState, ConfiguredCommand
from clawmem.ports.errors import ConfigError

PATIENCE_S = 60.0
AT_ONCE = 2
PROMPTS = ("UserPromptSubmit", "BeforeAgent")
# Variables that an agent passes on which starts commands with a clean environment.
CLEAN = ("HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "USER", "USERPROFILE", "SYSTEMROOT", "TEMP")


class ClientChecks(NamedTuple):
    """
    Checks of connected agents.

    Attributes:
        hook_answer: Starts a hook, and returns the object that it prints; raises `OSError` if it fails.
        tool_answer: Starts an MCP server, and calls a tool; raises `OSError` if it fails.
        titles_in: Returns some titles of notes in the vault that an environment names.
    """

    clients: Clients
    hook_answer: Callable[..., dict[str, Any]]
    tool_answer: Callable[..., str]
    titles_in: Callable[[Mapping[str, str]], Sequence[str]]

    def __call__(
        self, environ: Mapping[str, str], *, project: Path | None = None, starts: bool = True
    ) -> list[CheckResult]:
        """
        Return a finding for each connected agent.

        Args:
            project: A folder whose settings could repeat those of the user.
            starts: Whether the commands are started, with the variables that their agent passes on.
        """
        with ThreadPoolExecutor(AT_ONCE) as pool:
            findings = pool.map(
                lambda name: self._finding(name, environ, project, starts=starts), self.clients.titles
            )
            return [finding for finding in findings if finding]

    def _finding(
        self, name: str, environ: Mapping[str, str], project: Path | None, *, starts: bool
    ) -> CheckResult | None:
        title, remedy = self.clients.titles[name], f"Run: clawmem setup {name}"
        try:
            state = self.clients.state(name)
            fault = next(self._faults(name, state, project), "")
        except ConfigError as error:
            doubt = f"whether it is connected is unknown, because its file cannot be read: {error}"
            return CheckResult(title, True, doubt, "Then run: clawmem setup --check")
        if fault:
            return CheckResult(title, False, fault, f"{remedy} --remove" if "twice" in fault else remedy)
        if not state.commands:
            return CheckResult(title, True, "connected by the clawmem plugin") if state.has_plugin else None
        if not starts:
            return CheckResult(title, True, "connected")
        # Each different command once: of the hooks that of a prompt.
        commands = {
            str(command): command
            for command in state.commands
            if not command.event or command.event in PROMPTS
        }
        phrases = []
        for command in commands.values():
            words = command.command if isinstance(command.command, str) else shlex.join(command.command)
            try:
                phrases.append(self._answer(command, environ))
            except NothingAdded as error:
                return CheckResult(title, False, str(error), error.remedy)
            except (OSError, ConfigError) as error:
                return CheckResult(title, False, f"{words} does not answer: {error}", remedy)
        return CheckResult(title, True, ", ".join(dict.fromkeys(phrases)))

    def _faults(self, name: str, state: ClientState, project: Path | None) -> Iterator[str]:
        """Yield what is wrong with the settings themselves."""
        if state.has_plugin and state.commands:
            yield "installed twice, by the clawmem plugin and in the settings: every prompt gets the block twice"
        events = [command.event for command in state.commands if command.event]
        if doubled := sorted({event for event in events if events.count(event) > 1}):
            yield f"the settings have hooks of {', '.join(doubled)} more than once"
        wanted = [event for event in state.events if (call := call_named(event)) and call.hooks]
        if events and (missing := [event for event in wanted if event not in events]):
            yield f"the settings lack hooks of {', '.join(missing)}"
        of_project = self.clients.state(name, str(project)) if project and state.events else None
        if of_project and any(
            command not in state.commands and command.event in events
            for command in of_project.commands
            if command.event
        ):
            yield f"hooks are installed twice, once more in {project}: every event is answered twice"

    def _answer(self, command: ConfiguredCommand, environ: Mapping[str, str]) -> str:
        """Start *command*, and return a phrase about its answer. A check starts no server in the background."""
        passed = (
            {name: environ[name] for name in CLEAN if name in environ} if command.starts_clean else environ
        )
        variables, began = {**passed, **command.environ, OFF_VARIABLE: "1"}, monotonic()
        if command.event:
            self._ask_hook(command, variables)
            return f"hooks answer in {monotonic() - began:.1f} s"
        self.tool_answer(command.command, "status", {}, variables, PATIENCE_S)
        return f"tools answer in {monotonic() - began:.1f} s"

    def _ask_hook(self, command: ConfiguredCommand, environ: Mapping[str, str]) -> None:
        """Ask about notes of the vault until the hook adds a block. Raises `NothingAdded`."""
        variables = {**environ}
        if named := installed_options([command]).get(VAULT):
            variables["INDEX_PATH"] = named
        complete(variables)
        vault, titles = default_vault(variables), self.titles_in(variables)
        for title in titles or ["my notes"]:
            prompt = f"What do my notes say about {title}?"
            event = {"hook_event_name": PROMPTS[0], "session_id": "", "cwd": "/", "prompt": prompt}
            answer = self.hook_answer(command.command, event, environ, PATIENCE_S)
            if "continue" not in answer:
                raise OSError("it printed an answer without 'continue'")
            if (answer.get("hookSpecificOutput") or {}).get("additionalContext"):
                return
        if not titles:
            reason = f"there are no notes in {vault}" if is_there(vault) else f"there is no vault at {vault}"
            raise NothingAdded(f"hooks add nothing: {reason}.", "Run: clawmem bootstrap PATH")
        quoted = ", ".join(f'"{title}"' for title in titles)
        raise NothingAdded(
            f"hooks add nothing to questions about notes of {vault}: {quoted}.",
            f"Try: clawmem query {shlex.quote(titles[0])}",
        )


class NothingAdded(Exception):
    """A hook that answered without a block; ``remedy`` is the command to run."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy
