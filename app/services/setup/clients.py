"""Clients that setup connects: where each keeps its settings, and what is written there."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from clawmem.app.environment.places import below_home, client_folder, client_servers
from clawmem.app.services.setup.hooks import (
    CLAUDE_STYLE,
    CODEX_STYLE,
    GEMINI_STYLE,
    PROFILE,
    SERVERS,
    VAULT,
    WITH,
    Entry,
    Group,
    Style,
    as_list,
    entry_of,
    hook_groups,
)
from clawmem.app.services.setup.parts import (
    CLIENT_TITLES,
    ConfiguredCommand,
    HookGroups,
    ListElement,
    Part,
    PluginSettings,
    ServerEntry,
    SingleValue,
)
from clawmem.app.services.setup.settings_file import (
    JSON,
    JSON5,
    TOML,
    YAML_FORMAT,
    Format,
    SettingsFile,
)
from clawmem.app.services.setup.steps import FileEdit, Link, Step, WholeFile
from clawmem.ports.errors import ConfigError

INTEGRATIONS = Path(__file__).parents[3] / "integrations"
OPENCODE_MARK = "clawmem plugin for OpenCode"
CURATOR_FILE = "agents/clawmem-curator.md"
CURATOR_MARK = "name: clawmem-curator"  # line that identifies all versions of the file
OPENCLAW_FILE = "openclaw.json"
OPENCLAW_ENTRY = ("plugins", "entries", "clawmem")
CONVERSATION_ACCESS = (*OPENCLAW_ENTRY, "hooks", "allowConversationAccess")


class Request(NamedTuple):
    """
    Choices for one client.

    ``start`` is the start of a command of clawmem, ``vault`` the vault to name explicitly (empty: the usual one), and
    ``server`` the entry of the MCP server. ``places`` are variables that the client may not pass on. ``project`` is the
    folder whose settings are edited instead of the user's. ``allowed`` permits access to conversations.
    """

    environ: Mapping[str, str]
    start: tuple[str, ...]
    server: Entry
    server_name: str = "clawmem"
    vault: str = ""
    places: Mapping[str, str] = {}
    profile: str | None = None
    optional: str = ""
    project: Path | None = None
    allowed: bool = False

    def below(self, place: str, variable: str = "") -> Path:
        """Return the folder that *variable* names, else *place* below the home folder."""
        return below_home(self.environ.get(variable) or place, self.environ)

    def hooks(self, style: Style) -> HookGroups:
        """Return the hooks in the format of a client; installed options stay unless others are given."""
        return HookGroups(partial(_groups, self, style))


def _groups(request: Request, style: Style, kept: Mapping[str, str]) -> Mapping[str, Group]:
    options = {VAULT: request.vault or kept.get(VAULT), PROFILE: request.profile or kept.get(PROFILE)}
    places = [f"{name}={value}" for name, value in sorted(request.places.items())]
    return hook_groups(style, request.start, options, request.optional or kept.get(WITH, ""), places)


class Client(NamedTuple):
    """
    A client: the program and the folder by which it is found, and its configuration.

    ``hint`` is a sentence about what the user has to do afterwards. A client that ``starts_clean`` does not pass
    variables on.
    """

    program: str
    folder: Callable[[Request], Path]
    steps: Callable[[Request], Sequence[Step]]
    hint: str = ""
    has_project: bool = True
    starts_clean: bool = False

    def is_here(self, request: Request) -> bool:
        """Whether the client seems to be installed."""
        path = request.environ.get("PATH", "")
        is_there = os.path.isdir(self.folder(request))  # noqa: PTH112  no error without permission
        return is_there or bool(self.program and shutil.which(self.program, path=path))


def claude_hooks(request: Request) -> FileEdit:
    """Return the change of the hooks of Claude Code."""
    folder = request.project / ".claude" if request.project else client_folder(request.environ)
    name = "settings.local.json" if request.project else "settings.json"
    return FileEdit(folder / name, [request.hooks(CLAUDE_STYLE)])


def claude_servers(request: Request) -> FileEdit:
    """Return the change of the servers of Claude Code."""
    file = request.project / ".mcp.json" if request.project else client_servers(request.environ)
    return FileEdit(file, [_server(request)])


def curator_page(folder: Path, command: Sequence[str]) -> WholeFile:
    """Return the file of the curator agent below the client's *folder*, with *command* as the command line of clawmem."""
    page = (INTEGRATIONS / "curator" / "clawmem-curator.md").read_text("utf-8")
    return WholeFile(folder / CURATOR_FILE, page.replace("{clawmem}", shlex.join(command)), CURATOR_MARK)


def _server(request: Request, member: str = SERVERS, **more: object) -> ServerEntry:
    return ServerEntry(member, request.server_name, {**more, **request.server})


def _codex(request: Request) -> list[Step]:
    folder = request.project / ".codex" if request.project else _codex_folder(request)
    server = ServerEntry("mcp_servers", request.server_name, {**request.server, "required": True})
    return [
        FileEdit(folder / "hooks.json", [request.hooks(CODEX_STYLE)]),
        FileEdit(folder / "config.toml", [server], TOML),
    ]


def _codex_folder(request: Request) -> Path:
    return request.below("~/.codex", "CODEX_HOME")


def _gemini(request: Request) -> list[Step]:
    folder = request.project / ".gemini" if request.project else request.below("~/.gemini")
    parts: list[Part] = [request.hooks(GEMINI_STYLE), _server(request)]
    return [FileEdit(folder / "settings.json", parts, JSON5)]


def _opencode(request: Request) -> list[Step]:
    folder = request.project or _opencode_folder(request)
    names = ("opencode.jsonc", "opencode.json")
    file = next((folder / name for name in names if (folder / name).exists()), folder / names[-1])
    entry = ServerEntry("mcp", request.server_name, as_list(request.server))
    plugins = folder / (".opencode/plugin" if request.project else "plugin")
    source = (INTEGRATIONS / "opencode" / "clawmem.js").read_text("utf-8")
    variables = {**request.places, **({"INDEX_PATH": request.vault} if request.vault else {})}
    profile = {"CLAWMEM_PROFILE": request.profile} if request.profile else {}
    chosen = {"command": list(request.start), "environment": {**variables, **profile}}
    text = source.replace('{ command: ["clawmem"], environment: {} }', json.dumps(chosen, ensure_ascii=False))
    return [
        FileEdit(file, [entry], JSON5),
        WholeFile(plugins / "clawmem.js", text, OPENCODE_MARK),
    ]


def _opencode_folder(request: Request) -> Path:
    chosen = request.environ.get("XDG_CONFIG_HOME")
    return Path(chosen) / "opencode" if chosen else request.below("~/.config/opencode")


def _openclaw(request: Request) -> list[Step]:
    plugin = str(INTEGRATIONS / "openclaw")
    settings = {"clawmemBin": _program(request), **({"vault": request.vault} if request.vault else {})}
    profile = {"profile": request.profile} if request.profile else {}
    parts: list[Part] = [
        ListElement(("plugins", "load", "paths"), plugin, "integrations/openclaw"),
        SingleValue(("plugins", "slots", "memory"), "clawmem"),
        PluginSettings((*OPENCLAW_ENTRY, "config"), {**settings, **profile}, "clawmemBin", OPENCLAW_ENTRY),
        SingleValue((*OPENCLAW_ENTRY, "enabled"), True),
    ]
    if request.allowed:
        parts.append(SingleValue(CONVERSATION_ACCESS, True))
    return [FileEdit(_openclaw_folder(request) / OPENCLAW_FILE, parts, JSON5)]


def may_read_conversations(request: Request) -> bool:
    """Whether OpenClaw permits the plugin to read conversations. Raises `ConfigError` if its file cannot be read."""
    document = SettingsFile(_openclaw_folder(request) / OPENCLAW_FILE, JSON5).document
    return document.get(*CONVERSATION_ACCESS) is True


def _openclaw_folder(request: Request) -> Path:
    return request.below("~/.openclaw", "OPENCLAW_STATE_DIR")


def _program(request: Request) -> str:
    """Return the program ``clawmem`` for clients that start one file."""
    beside = Path(request.start[0]).with_name("clawmem")
    found = shutil.which("clawmem", path=request.environ.get("PATH", ""))
    return str(beside) if beside.exists() else found or "clawmem"


def _hermes(request: Request) -> list[Step]:
    folder = _hermes_folder(request)
    chosen = {"bin": _program(request), **({"vault": request.vault} if request.vault else {})}
    profile = {"profile": request.profile} if request.profile else {}
    return [
        Link(folder / "plugins" / "clawmem", INTEGRATIONS / "hermes" / "clawmem"),
        FileEdit(folder / "clawmem.json", [PluginSettings((), {**chosen, **profile}, "bin")]),
        FileEdit(folder / "config.yaml", [SingleValue(("memory", "provider"), "clawmem")], YAML_FORMAT),
    ]


def _hermes_folder(request: Request) -> Path:
    return request.below("~/.hermes", "HERMES_HOME")


def _editor(
    user: Callable[[Request], Path], project: str, member: str = SERVERS, form: Format = JSON5, **more: object
) -> Callable[[Request], list[Step]]:  # fmt: skip
    """Return the steps of a client that has tools only, in the file *user* or *project*."""

    def steps(request: Request) -> list[Step]:
        file = request.project / project if request.project else user(request)
        return [FileEdit(file, [_server(request, member, **more)], form)]

    return steps


def _code_user(request: Request) -> Path:
    if chosen := request.environ.get("APPDATA"):
        return Path(chosen) / "Code" / "User"
    mac = request.below("~/Library/Application Support")
    return (mac if mac.is_dir() else request.below("~/.config", "XDG_CONFIG_HOME")) / "Code" / "User"


def _zed_folder(request: Request) -> Path:
    if chosen := request.environ.get("APPDATA"):
        return Path(chosen) / "Zed"
    return request.below("~/.config", "XDG_CONFIG_HOME") / "zed"


def _windsurf_folder(request: Request) -> Path:
    return request.below("~/.codeium/windsurf")


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "claude", lambda it: client_folder(it.environ), lambda it: [claude_hooks(it), claude_servers(it)]
    ),
    "codex": Client(
        "codex", _codex_folder, _codex, "Codex asks once whether it may run the hooks: /hooks shows them.",
        starts_clean=True,
    ),
    "gemini": Client(
        "gemini", lambda it: it.below("~/.gemini"), _gemini,
        "Gemini CLI starts servers in trusted folders only.",
    ),
    "opencode": Client("opencode", _opencode_folder, _opencode),
    "openclaw": Client(
        "openclaw", _openclaw_folder, _openclaw, "Restart the gateway.", has_project=False
    ),
    "hermes": Client("hermes", _hermes_folder, _hermes, "Check: hermes memory status.", has_project=False),
    "vscode": Client(
        "code", _code_user,
        _editor(lambda it: _code_user(it) / "mcp.json", ".vscode/mcp.json", "servers", type="stdio"),
        "VS Code asks once whether it may start the server.",
    ),
    "cursor": Client(
        "cursor", lambda it: it.below("~/.cursor"),
        _editor(lambda it: it.below("~/.cursor/mcp.json"), ".cursor/mcp.json", form=JSON),
    ),
    "zed": Client(
        "zed", _zed_folder,
        _editor(
            lambda it: _zed_folder(it) / "settings.json", ".zed/settings.json", "context_servers",
            source="custom", enabled=True,
        ),
    ),
    "windsurf": Client(
        "windsurf", _windsurf_folder,
        _editor(lambda it: _windsurf_folder(it) / "mcp_config.json", "", form=JSON), has_project=False,
    ),
}  # fmt: skip


# Servers that ``setup mcp --client`` shows: title, file, format, and the member of the file.
SHOWN_SERVERS: Mapping[str, tuple[str, str, Format, str]] = {
    "codex": ("Codex", "~/.codex/config.toml", TOML, "mcp_servers"),
    "gemini": ("Gemini CLI", "~/.gemini/settings.json", JSON, SERVERS),
    "cursor": ("Cursor", "~/.cursor/mcp.json", JSON, SERVERS),
    "json": ("Any other client", "its own settings", JSON, SERVERS),
}


def steps_of(name: str, request: Request) -> Sequence[Step]:
    """
    Return the steps that connect the client *name*.

    Raises:
        ConfigError: the client has no settings for a project.
    """
    client = CLIENTS[name]
    if request.project and not client.has_project:
        raise ConfigError(f"{CLIENT_TITLES[name]} has no settings for a project. Leave --project out.")
    return client.steps(request)


def found_clients(request: Request) -> list[str]:
    """Return the names of clients that seem to be installed."""
    return [name for name, client in CLIENTS.items() if client.is_here(request)]


def connected_clients(environ: Mapping[str, str]) -> list[str]:
    """Return the names of clients whose settings contain a command of clawmem, or that setup changed and cannot read."""
    request = Request(environ, ("clawmem",), entry_of(["clawmem", "mcp"]))
    return [name for name in CLIENTS if _is_connected(name, request)]


def _is_connected(name: str, request: Request) -> bool:
    try:
        return bool(configured_commands(name, request))
    except ConfigError:
        return was_connected(name, request)


def unread_files(environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for each client of which is unknown whether it is connected, with the file that is at fault."""
    request = Request(environ, ("clawmem",), entry_of(["clawmem", "mcp"]))
    sentences = []
    for name in CLIENTS:
        try:
            configured_commands(name, request)
        except ConfigError as error:
            if not was_connected(name, request):
                sentences.append(f"Whether {CLIENT_TITLES[name]} is connected is unknown: {error}")
    return sentences


def was_connected(name: str, request: Request) -> bool:
    """Whether a file of the client *name*, which may be unreadable, shows that setup changed it."""
    return any(step.has_traces() for step in steps_of(name, request))


def configured_commands(name: str, request: Request) -> list[ConfiguredCommand]:
    """Return the commands that the client *name* starts for clawmem. Raises `ConfigError`."""
    return [command for step in steps_of(name, request) for command in step.commands()]
