"""The known agents: the files that an installation changes, planned first and then written, and what is installed there."""

import json
import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from difflib import unified_diff
from errno import EINVAL
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from clawmem.adapters.clients.entries import (
    PROMPT,
    Element,
    Entry,
    Hooks,
    HookStyle,
    Server,
    Setting,
    value_at,
)
from clawmem.adapters.clients.formats import JSON, JSON5, TOML, YAML_FORMAT, Format, Values
from clawmem.ports.clients import (
    ClientState,
    ConfiguredCommand,
    Connection,
    FileChange,
    HookEntry,
    MemoryFolder,
)
from clawmem.ports.errors import ConfigError

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
SERVERS = "mcpServers"
EVENTS = (
    *("UserPromptSubmit", "SessionStart", "PreCompact", "PostCompact", "Stop", "PreToolUse"),
    *("PostToolUseFailure", "SubagentStart", "SessionEnd"),
)
CLAUDE_STYLE = HookStyle({event: event for event in EVENTS}, in_shell=False)
CODEX_STYLE = HookStyle({event: event for event in EVENTS[:-1]} | {"PostToolUseFailure": "PostToolUse"})
_OF_GEMINI = {"UserPromptSubmit": "BeforeAgent", "SessionStart": "SessionStart", "PreCompact": "PreCompress"}
GEMINI_STYLE = HookStyle(
    {**_OF_GEMINI, "Stop": "AfterAgent", "SessionEnd": "SessionEnd"}, milliseconds=True, has_matcher=False
)
PLUGIN = ("plugins", "entries", "clawmem")  # of OpenClaw
OPENCLAW_INSTALL = "openclaw plugins install --link --force --accept-capabilities " + shlex.quote(
    f"{INTEGRATIONS}/openclaw"
)
BACKUP = "before-clawmem"  # suffix of the copy of a file as it was before the first entry


class Plan(NamedTuple):
    """A planned change, and the function that makes it. The function raises `OSError`."""

    change: FileChange
    write: Callable[[], None]


def read(file: Path) -> str | None:
    """Return the text of *file*; ``None`` if it does not exist. Raises `ConfigError` if it cannot be read."""
    try:
        if file.exists() and not file.is_file():
            raise OSError(EINVAL, "It is no regular file")  # a pipe would block forever
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8. Save it as UTF-8, then try again.") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}. Correct it, then try again.") from error


def write(file: Path, text: str) -> None:
    """Replace *file* in one step. It keeps its mode; a new file is private."""
    file.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o600
    with TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
        draft = Path(folder) / file.name
        draft.write_bytes(text.encode())
        draft.chmod(mode)
        draft.replace(file)


class SettingsFile(NamedTuple):
    """Settings of an agent in *file*, with the *entries* of clawmem."""

    file: Path
    entries: Sequence[Entry]
    format: Format = JSON

    def plan(self, *, remove: bool) -> Plan:
        """Return the change. Raises `ConfigError` if the file cannot be read, or has another shape."""
        text = read(self.file)
        before = self._parse(text)
        copy = self.file.with_name(f"{self.file.name}.{BACKUP}")
        bare, after = deepcopy(before), deepcopy(before)
        try:
            former = read(copy)
            original = self._replace(file=copy)._parse(former)
            set_back = deepcopy(original)
            for entry in self.entries:
                entry.remove(bare, {})
                entry.remove(after, original) if remove else entry.install(after)
                entry.install(set_back)
                entry.remove(set_back, original)
            new = self.format.rewrite(text or "", after) if after != before else text
            unconnected = text or "" if bare == before else self.format.rewrite(text or "", bare)
            if remove and former and after == set_back:  # an empty file is no JSON
                # A comment may have been added since.
                is_as_written = self.format is JSON or self.format.rewrite(former, before) == text
                new = former if is_as_written else new
        except ValueError as error:
            raise self._fault(error) from error
        is_deleted = (
            remove and former is None and after != before and (new or "").split() in ([], ["{}"], ["{", "}"])
        )
        if is_deleted:
            new = ""
        may_write = text is None or (os.access(self.file, os.W_OK) and self.file.stat().st_mode & 0o222)
        if new != text and not may_write:  # the second half is for the system's administrator
            raise ConfigError(f"{self.file} is read-only and was left as it is. Allow writing first.")
        is_copied = not remove and text is not None and (bare == before or (former is None and bool(bare)))

        def apply() -> None:
            if read(self.file) != text:  # another program has just changed it
                self.plan(remove=remove).write()
                return
            if is_copied:
                write(copy, unconnected)
            if is_deleted:
                self.file.unlink()
            else:
                write(self.file, new or "")
            if remove:
                copy.unlink(missing_ok=True)

        lines = unified_diff((text or "").splitlines(), (new or "").splitlines(), n=0, lineterm="")
        entries = [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]
        backup = str(copy) if new != text and is_copied else ""
        return Plan(FileChange(str(self.file), new != text, entries, backup), apply)

    def commands(self) -> Iterator[ConfiguredCommand]:
        """Yield the commands that the agent starts because of the entries. Raises `ConfigError`."""
        settings = self._parse(read(self.file))
        try:
            for entry in self.entries:
                yield from entry.commands(settings)
        except ValueError as error:
            raise self._fault(error) from error

    def faults(self, *, is_connected: bool) -> Iterator[str]:
        """Yield why the agent does not read its entries, or not all. Raises `ConfigError`."""
        text = read(self.file)
        if text is not None and not text.strip() and self.format in (JSON, JSON5):
            yield f"{self.file} is empty"
        settings = self._parse(text)
        for path, off in SWITCHES.items() if is_connected else ():
            value = value_at(settings, path)
            if value is off or (isinstance(value, list) and off in value):
                yield f"{self.file} has {'.'.join(path)}: {json.dumps(off)}, so that no hook runs. Remove that"
        for entry in self.entries if is_connected else ():
            if isinstance(entry, Setting) and (fault := entry.fault(settings)):
                yield f"in {self.file} {fault} now"

    def has_plugin(self) -> bool:
        """Whether the plugin of clawmem for Claude Code is switched on, which brings hooks and tools itself."""
        plugins = self._parse(read(self.file)).get("enabledPlugins")
        switched_on = [name for name, on in plugins.items() if on] if isinstance(plugins, dict) else []
        return any(name.partition("@")[0] == "clawmem" for name in switched_on)

    def _parse(self, text: str | None) -> Values:
        try:
            return self.format.parse(text or "")
        except (ValueError, RecursionError) as error:
            raise self._fault(error, f" is not valid {self.format.title}") from error
        except TypeError as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception, what: str = "") -> ConfigError:
        return ConfigError(f"{self.file}{what}: {error}. It was left as it is. Correct it, then try again.")


# Settings of Claude Code, Codex, Gemini CLI and OpenClaw with which no hook runs; the last one is a list.
SWITCHES: Mapping[Sequence[str], object] = {
    ("disableAllHooks",): True,
    ("features", "hooks"): False,
    ("hooksConfig", "enabled"): False,
    ("plugins", "enabled"): False,
    ("plugins", "deny"): "clawmem",
}


class WholeFile(NamedTuple):
    """A *file* of clawmem in a folder of the agent; *mark* is part of all its versions."""

    file: Path
    text: str
    mark: str

    def plan(self, *, remove: bool) -> Plan:
        """Return the change. Raises `ConfigError` if the file is not from clawmem, or cannot be read."""
        before = self._own_text()
        changed = before is not None if remove else before != self.text
        write_or_delete = self.file.unlink if remove else lambda: write(self.file, self.text)
        return Plan(FileChange(str(self.file), changed, ["the file"]), write_or_delete)

    def commands(self) -> Iterator[ConfiguredCommand]:
        """Yield the command in the settings of the file, which are one line of JSON."""
        if line := (self._own_text() or "").partition("\nconst settings = ")[2].partition(";\n")[0]:
            settings = json.loads(line)
            yield ConfiguredCommand([*settings["command"], "hook", PROMPT], settings["environment"], PROMPT)

    def _own_text(self) -> str | None:
        text = read(self.file)
        if text is not None and self.mark not in text:
            raise ConfigError(f"{self.file} is not ours. Move it away, then try again.")
        return text


class Link(NamedTuple):
    """A symbolic *link* from a folder of the agent to the folder *target* of clawmem."""

    link: Path
    target: Path

    def plan(self, *, remove: bool) -> Plan:
        """Return the change. Raises `ConfigError` if something else has the name."""
        is_link = os.path.islink(self.link)  # noqa: PTH114  no error without permission
        if os.path.lexists(self.link) and not is_link:
            raise ConfigError(f"{self.link} is not a link of ours. Move it away, then try again.")
        changed = is_link if remove else not is_link or self.link.readlink() != self.target

        def apply() -> None:
            self.link.parent.mkdir(parents=True, exist_ok=True)
            self.link.unlink(missing_ok=True)
            if not remove:
                self.link.symlink_to(self.target, target_is_directory=True)

        return Plan(FileChange(str(self.link), changed, [f"a link to {self.target}"]), apply)


Step = SettingsFile | WholeFile | Link


class Target(NamedTuple):
    """The folder of an agent's settings, the environment of the user, and the project to edit instead; or none."""

    folder: Path
    environ: Mapping[str, str]
    project: Path | None


class Agent(NamedTuple):
    """
    An agent: the program by which it is found, and what an installation changes.

    ``folder`` is that of its settings, or ``below`` the folder that ``variable`` names.
    """

    title: str
    program: str
    folder: str
    variable: str
    steps: Callable[[Target, Connection], Sequence[Step]]
    hint: str = ""
    removal_hint: str = ""
    has_project: bool = True
    style: HookStyle | None = None
    below: str = ""

    def target(self, environ: Mapping[str, str], project: str = "") -> Target:
        """Return the folders of a user, and of a project."""
        folder = _folder(environ, self.folder, self.variable) / self.below
        return Target(folder, environ, Path(project) if project else None)


def _folder(environ: Mapping[str, str], folder: str, variable: str = "") -> Path:
    """Return the folder that *variable* names, else *folder*, where ``~`` is the home of *environ*."""
    chosen, home = environ.get(variable) or folder, environ.get("HOME")
    is_below_home = home and (chosen == "~" or chosen.startswith("~/"))
    try:
        return Path(f"{home}{chosen[1:]}") if is_below_home else Path(chosen).expanduser()
    except RuntimeError as error:
        fault = f"{variable}: {chosen.split('/')[0]} is the home of no user here. Write the whole path."
        raise ConfigError(fault) from error


def _claude(target: Target, connection: Connection) -> list[Step]:
    settings = target.folder / "settings.json"
    servers = _folder(target.environ, "~", "CLAUDE_CONFIG_DIR") / ".claude.json"
    if target.project:
        settings, servers = target.project / ".claude" / "settings.local.json", target.project / ".mcp.json"
    return [
        SettingsFile(settings, _hooks(connection, CLAUDE_STYLE)),
        SettingsFile(servers, _servers(connection, SERVERS, _entry(connection))),
    ]


def _codex(target: Target, connection: Connection) -> list[Step]:
    folder = target.project / ".codex" if target.project else target.folder
    # Without the mark the first request of a session does not wait for the tools.
    server = {**_entry(connection), "required": True}
    servers = _servers(connection, "mcp_servers", server, starts_clean=True)
    return [
        SettingsFile(folder / "hooks.json", _hooks(connection, CODEX_STYLE)),
        SettingsFile(folder / "config.toml", servers, TOML),
    ]


def _gemini(target: Target, connection: Connection) -> list[Step]:
    folder = target.project / ".gemini" if target.project else target.folder
    entries = [*_hooks(connection, GEMINI_STYLE), *_servers(connection, SERVERS, _entry(connection))]
    return [SettingsFile(folder / "settings.json", entries, JSON5)]


def _opencode(target: Target, connection: Connection) -> list[Step]:
    folder = target.project or target.folder
    names = ("opencode.jsonc", "opencode.json")
    file = next((folder / name for name in names if (folder / name).exists()), folder / names[-1])
    environ = dict(connection.environ)
    server: dict[str, Any] = {"type": "local", "command": [*connection.program, *connection.server]}
    of_server = {**connection.added, **environ}
    server |= {"environment": of_server, "enabled": True} if of_server else {"enabled": True}
    profile = {"CLAWMEM_PROFILE": connection.profile} if connection.profile else {}
    settings = {"command": list(connection.program), "environment": {**environ, **profile}}
    source = (INTEGRATIONS / "opencode" / "clawmem.js").read_text("utf-8")
    own = json.dumps(settings, ensure_ascii=False)
    plugin = source.replace('{ command: ["clawmem"], environment: {} }', own)
    plugins = folder / (".opencode/plugin" if target.project else "plugin")
    return [
        SettingsFile(file, _servers(connection, "mcp", server), JSON5),
        WholeFile(plugins / "clawmem.js", plugin, "clawmem plugin for OpenCode"),
    ]


def _openclaw(target: Target, connection: Connection) -> list[Step]:
    entries: list[Entry] = [
        Element(("plugins", "load", "paths"), str(INTEGRATIONS / "openclaw"), end="integrations/openclaw"),
        Setting(("plugins", "slots", "memory"), "clawmem", shared=True),
        # or memory-core, which stays loaded for its dreaming, registers tools of the same names
        Setting(("memory", "search", "enabled"), False, shared=True),
        *_plugin(target, connection, (*PLUGIN, "config"), "clawmemBin"),
        Setting((*PLUGIN, "enabled"), True),
        Setting((*PLUGIN, "hooks", "allowConversationAccess"), connection.may_read or None),
    ]
    file = _folder(target.environ, f"{target.folder}/openclaw.json", "OPENCLAW_CONFIG_PATH")
    return [SettingsFile(file, entries, JSON5)]


def _hermes(target: Target, connection: Connection) -> list[Step]:
    folder = target.folder
    provider = Setting(("memory", "provider"), "clawmem", shared=True)
    return [
        Link(folder / "plugins" / "clawmem", INTEGRATIONS / "hermes" / "clawmem"),
        SettingsFile(folder / "clawmem.json", _plugin(target, connection, (), "bin")),
        SettingsFile(folder / "config.yaml", [provider], YAML_FORMAT),
    ]


def _curator(target: Target, connection: Connection) -> list[Step]:
    page = (INTEGRATIONS / "curator" / "clawmem-curator.md").read_text("utf-8")
    vault = connection.environ.get("INDEX_PATH")
    command = shlex.join([*connection.program, *(("--vault", vault) if vault else ())])
    file = target.folder / "agents" / "clawmem-curator.md"
    return [WholeFile(file, page.replace("{clawmem}", command), "name: clawmem-curator")]


def _hooks(connection: Connection, style: HookStyle) -> list[Entry]:
    return [Hooks(style, connection.program, connection.hooks)] if connection.hooks else []


def _entry(connection: Connection) -> dict[str, Any]:
    """Return the entry of the MCP server as most agents read it."""
    program, *arguments = [*connection.program, *connection.server]
    environ = {**connection.added, **connection.environ}
    return {"command": program, "args": arguments, **({"env": environ} if environ else {})}


def _servers(
    connection: Connection, member: str, entry: Values, *, starts_clean: bool = False
) -> list[Entry]:
    return [Server(member, connection.server_name, entry, starts_clean)] if connection.server else []


def _plugin(target: Target, connection: Connection, path: Sequence[str], runs: str) -> list[Entry]:
    """Return the settings of a plugin that starts one file: the program, the vault and the profile."""
    sibling = Path(connection.program[0]).with_name("clawmem")
    found = shutil.which("clawmem", path=target.environ.get("PATH", ""))
    program = str(sibling) if sibling.exists() else found or "clawmem"
    return [
        Setting((*path, runs), program, runs=True),
        Setting((*path, "vault"), connection.environ.get("INDEX_PATH")),
        Setting((*path, "profile"), connection.profile or None),
    ]


AGENTS = {
    "claude-code": Agent("Claude Code", "claude", "~/.claude", "CLAUDE_CONFIG_DIR", _claude, style=CLAUDE_STYLE),
    "codex": Agent(
        "Codex", "codex", "~/.codex", "CODEX_HOME", _codex,
        "Codex asks once whether it may run the hooks: /hooks shows them.", style=CODEX_STYLE,
    ),
    "gemini": Agent(
        "Gemini CLI", "gemini", "~", "GEMINI_CLI_HOME", _gemini,
        "Gemini CLI starts servers in trusted folders only.", style=GEMINI_STYLE, below=".gemini",
    ),
    "opencode": Agent("OpenCode", "opencode", "~/.config", "XDG_CONFIG_HOME", _opencode, below="opencode"),
    "openclaw": Agent(
        "OpenClaw", "openclaw", "~/.openclaw", "OPENCLAW_STATE_DIR", _openclaw,
        "Restart the gateway. Context and capture need its conversations, which --yes permits. To record where the "
        f"plugin comes from: {OPENCLAW_INSTALL}",
        "If OpenClaw recorded where the plugin comes from, it still loads it. Then run: openclaw plugins uninstall clawmem",
        has_project=False,
    ),
    "hermes": Agent(
        "Hermes", "hermes", "~/.hermes", "HERMES_HOME", _hermes, "Check: hermes memory status.", has_project=False
    ),
}  # fmt: skip
# The states of conversations in these folders are from clawmem.
MEMORIES = {
    "claude-code": MemoryFolder("projects", "*/memory/**/*.md", ("precompact-state-*.md",)),
    "codex": MemoryFolder("memories"),
}
# An agent inside of Claude Code, which is installed on request alone.
CURATOR = Agent(
    "The curator", "", "~/.claude", "CLAUDE_CONFIG_DIR", _curator, 'Say "curate memory".', has_project=False
)


class InstalledClients:
    """The agents of a user: implements `clawmem.ports.clients.Clients`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.titles = {name: agent.title for name, agent in AGENTS.items()}
        self.hints = {name: agent.hint for name, agent in {**AGENTS, "curator": CURATOR}.items()}
        self.removal_hints = {name: agent.removal_hint for name, agent in AGENTS.items()}

    def found(self) -> list[str]:
        path = self._environ.get("PATH", "")
        return [
            name
            for name, agent in AGENTS.items()
            if os.path.isdir(agent.target(self._environ).folder) or shutil.which(agent.program, path=path)  # noqa: PTH112
        ]

    def memories(self) -> dict[str, MemoryFolder]:
        known = {}
        for name, memory in MEMORIES.items():
            folder, is_used = AGENTS[name].target(self._environ).folder / memory.folder, False
            with suppress(PermissionError):
                files = folder.glob(memory.pattern)
                is_used = any(not any(map(file.match, memory.exclude)) for file in files)
            known[name] = memory._replace(folder=str(folder), is_used=is_used)
        return known

    def install(self, name: str, connection: Connection, *, dry_run: bool = False) -> list[FileChange]:
        steps = self._steps(name, connection)
        if any(step.has_plugin() for step in steps if isinstance(step, SettingsFile)):
            raise ConfigError(
                "The clawmem plugin is switched on and brings the same hooks and tools; every prompt would get them "
                "twice. Switch it off (/plugin in Claude Code), or leave the settings alone."
            )
        return _done([step.plan(remove=False) for step in steps], dry_run=dry_run)

    def uninstall(self, name: str, connection: Connection, *, dry_run: bool = False) -> list[FileChange]:
        return _done([step.plan(remove=True) for step in self._steps(name, connection)], dry_run=dry_run)

    def state(self, name: str, project: str = "") -> ClientState:
        style = AGENTS[name].style
        hooks = [HookEntry(event, 0) for event in EVENTS]
        place = project if AGENTS[name].has_project else ""
        steps = self._steps(name, Connection(("clawmem",), hooks, ("mcp",), project=place))
        files = [step for step in steps if isinstance(step, SettingsFile)]
        commands = [command for step in steps if not isinstance(step, Link) for command in step.commands()]
        faults = [fault for file in files for fault in file.faults(is_connected=bool(commands))]
        others = [step[0] for step in steps if not isinstance(step, SettingsFile) and commands]
        faults += [f"{path} does not exist" for path in others if not path.exists()]
        events, has_plugin = style.events.values() if style else (), any(file.has_plugin() for file in files)
        return ClientState(commands, [*events], has_plugin, faults)

    def _steps(self, name: str, connection: Connection) -> Sequence[Step]:
        agent = CURATOR if name == "curator" else AGENTS[name]
        if connection.project and not agent.has_project:
            raise ConfigError(f"{agent.title} has no settings for a project. Leave --project out.")
        steps = agent.steps(agent.target(self._environ, connection.project), connection)
        return [
            step._replace(file=_target(step.file)) if isinstance(step, SettingsFile) else step
            for step in steps
        ]


def _target(file: Path) -> Path:
    """Return *file*, or what it is a link to, which is changed in its place; refuse a link into a missing folder."""
    target = Path(os.path.realpath(file))
    if os.path.islink(file) and not os.path.isdir(target.parent):  # noqa: PTH112, PTH114  no error without permission
        raise ConfigError(f"{file} leads into a missing folder. Make {target.parent}, or remove the link.")
    return target


def _done(plans: Sequence[Plan], *, dry_run: bool) -> list[FileChange]:
    for change, write in plans if not dry_run else ():
        try:
            if change.changed:
                write()
                with suppress(OSError):
                    Path(change.file).parent.rmdir()  # if a removal left it empty
        except OSError as error:
            fault = f"{change.file} cannot be written: {error.strerror}. It is as it was. Check permissions and space."
            raise ConfigError(fault) from error
    return [change for change, _ in plans]
