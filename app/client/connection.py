"""Entries of this installation in the settings of agents: the hooks, the MCP server and their variables."""

import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise

from clawmem.app.client.hook_registry import EVENTS, OPTIONAL_HOOKS, call_named
from clawmem.app.client.request import PLACES, ToolSet
from clawmem.app.environment.places import XDG
from clawmem.ports.clients import ConfiguredCommand, HookEntry

# The start of a command in any folder: a project that an agent works on may contain a `json.py`.
PROGRAM = (sys.executable, "-P", "-m", "clawmem")
VAULT, PROFILE, WITH, TOOLS = "--vault", "--profile", "--with", "--tools"  # options of hooks and the server
SERVER_VAULT = "mcp --vault"  # the vault of an MCP server, which may be a name
_NOT_PASSED_ON = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|^CLAWMEM_(SESSION_|NO_SERVER)")


def passed_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """
    Return the variables that clawmem reads, because an agent or a service may not have those of a shell.

    Credentials and variables of one session are left out. Credentials belong in the ``.env`` file of the config folder.
    """
    return {
        name: value
        for name, value in sorted(environ.items())
        if value and (name in XDG or name.startswith("CLAWMEM_")) and not _NOT_PASSED_ON.search(name)
    }


def hook_entries(options: Mapping[str, str], environ: Mapping[str, str]) -> list[HookEntry]:
    """
    Return one entry for each event.

    Args:
        options: Values of `VAULT`, `PROFILE` and `WITH`; an entry gets those that have an effect on it.
        environ: Variables for the processes, of which hooks take those that name folders.
    """
    places = [("--env", f"{name}={value}") for name, value in environ.items() if name in PLACES]
    entries = []
    for event in EVENTS:
        call = call_named(event, options.get(WITH, ""))
        if call and call.hooks:
            added = ",".join(hook for hook in call.hooks if hook in OPTIONAL_HOOKS)
            profile = options.get(PROFILE, "") if "context-surfacing" in call.hooks else ""
            given = [(VAULT, options.get(VAULT, "")), (PROFILE, profile), (WITH, added), *places]
            words = [word for option, value in given if value for word in (option, value)]
            entries.append(HookEntry(event, call.patience_s, call.matcher, words))
    return entries


def installed_options(commands: Iterable[ConfiguredCommand]) -> dict[str, str]:
    """Return the options of installed commands, see `hook_entries`, also those that are variables, and `SERVER_VAULT`."""
    options: dict[str, str] = {}
    optional: list[str] = []
    for command in commands:
        line = command.command
        words = shlex.split(line) if isinstance(line, str) else line
        if ToolSet.FILES in words:  # a server of its own
            continue
        given = {
            option: value for option, value in pairwise(words) if option in (VAULT, PROFILE, WITH, TOOLS)
        }
        optional += given.pop(WITH, "").split(",")
        if not command.event and VAULT in given:
            given[SERVER_VAULT] = given.pop(VAULT)
        named = {VAULT: command.environ.get("INDEX_PATH")}
        if command.event:
            named[PROFILE] = command.environ.get("CLAWMEM_PROFILE")
        options |= {option: value for option, value in {**named, **given}.items() if value}
    return {**options, WITH: ",".join(dict.fromkeys(filter(None, optional)))}
