"""
Checks of the agents to which clawmem is connected.

The settings are read; then the commands in them are started, and have to answer.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.app.client.connection import VAULT, installed_options
from clawmem.app.client.hook_registry import call_named
from clawmem.app.client.request import OFF_VARIABLE
from clawmem.app.environment.places import complete, default_vault, is_there
from clawmem.app.services.maintenance.doctor import CheckResult
from clawmem.ports.clients import Clients, ClientState
from clawmem.ports.errors import ConfigError

PATIENCE_S = 60.0
PROMPTS = ("UserPromptSubmit", "BeforeAgent")
# Variables that an agent passes on which starts commands with a clean environment.
CLEAN = ("HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "USER", "USERPROFILE", "SYSTEMROOT", "TEMP")


class ClientChecks(NamedTuple):
    """
    Checks of connected agents.

    Attributes:
        hook_answer: Starts a hook, and returns the object that it prints; raises `OSError` if it fails.
        tool_answer: Starts an MCP server, and calls a tool; raises `OSError` if it fails.
    """

    clients: Clients
    hook_answer: Callable[..., dict[str, Any]]
    tool_answer: Callable[..., str]

    def __call__(
        self, environ: Mapping[str, str], *, project: Path | None = None, starts: bool = True
    ) -> list[CheckResult]:
        """
        Return a finding for each connected agent.

        Args:
            project: A folder whose settings could repeat those of the user, or stand in for them.
            starts: Whether the commands are started, with the variables that their agent passes on.
        """
        findings = (self._finding(name, environ, project, starts=starts) for name in self.clients.titles)
        return [finding for finding in findings if finding]

    def _finding(
        self, name: str, environ: Mapping[str, str], project: Path | None, *, starts: bool
    ) -> CheckResult | None:
        title, remedy = self.clients.titles[name], f"Run: clawmem setup {name}"
        try:
            state = self.clients.state(name)
            of_project = self.clients.state(name, str(project)) if project else state
            if not (state.commands or state.has_plugin) and of_project.commands:
                state, title, remedy = of_project, f"{title} in {project}", f"{remedy} --project"
                starts = False  # another person may have written them
            fault = next(self._faults(state, of_project, project), "")
        except (ConfigError, OSError) as error:
            doubt = f"whether it is connected is unknown, because its file cannot be read: {error}"
            return CheckResult(title, False, doubt, "Then run: clawmem setup --check")
        if fault:
            return CheckResult(title, False, fault, f"{remedy} --remove" if "twice" in fault else remedy)
        if not state.commands:
            return CheckResult(title, True, "connected by the clawmem plugin") if state.has_plugin else None
        # Each different command once: of the hooks that of a prompt.
        tried = [command for command in state.commands if not command.event or command.event in PROMPTS]
        commands = {str(command): command for command in tried} if starts else {}
        for command in commands.values():
            variables = {**environ, **command.environ}
            if command.starts_clean:
                variables = {name: environ[name] for name in CLEAN if name in environ} | {**command.environ}
            variables[OFF_VARIABLE] = "1"  # no server in the background
            event = {"hook_event_name": PROMPTS[0], "session_id": "", "cwd": "/", "prompt": "What is noted?"}
            try:
                if not command.event:
                    self.tool_answer(command.command, "status", {}, variables, PATIENCE_S)
                    continue
                if "continue" not in self.hook_answer(command.command, event, variables, PATIENCE_S):
                    raise OSError("it printed an answer without 'continue'")
                if vault := installed_options([command]).get(VAULT):
                    variables["INDEX_PATH"] = vault
                complete(variables)
                if not is_there(place := default_vault(variables)):
                    chosen = f"--vault {shlex.quote(str(place))} " if variables.get("INDEX_PATH") else ""
                    raise OSError(f"There is no vault at {place}. Run: clawmem {chosen}bootstrap PATH")
            except (OSError, ConfigError) as error:
                words = command.command if isinstance(command.command, str) else shlex.join(command.command)
                way_out = "" if "Run: " in str(error) else remedy  # it names the right one
                return CheckResult(title, False, f"{words} does not answer: {error}", way_out)
        parts = sorted({"hooks" if command.event else "tools" for command in commands.values()})
        return CheckResult(title, True, f"{' and '.join(parts)} answer" if parts else "connected")

    def _faults(self, state: ClientState, of_project: ClientState, project: Path | None) -> Iterator[str]:
        yield from state.faults
        if state.has_plugin and state.commands:
            yield "installed twice, by the clawmem plugin and in the settings: every prompt gets the block twice"
        events = [command.event for command in state.commands if command.event]
        if doubled := sorted({event for event in events if events.count(event) > 1}):
            yield f"the settings have hooks of {', '.join(doubled)} more than once"
        wanted = [event for event in state.events if (call := call_named(event)) and call.hooks]
        if events and (missing := [event for event in wanted if event not in events]):
            yield f"the settings lack hooks of {', '.join(missing)}"
        if any(command.event in events and command not in state.commands for command in of_project.commands):
            yield f"hooks are installed twice, once more in {project}: every event is answered twice"
