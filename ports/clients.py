"""Port of AI agents: where clawmem installs its hooks, its MCP server and its plugins in their settings."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class HookEntry(NamedTuple):
    """Hooks of *event*, named as in Claude Code; ``options`` are those of the command ``clawmem hook``."""

    event: str
    patience_s: int
    matcher: str = ""
    options: Sequence[str] = ()


class Connection(NamedTuple):
    """
    Entries for an agent.

    ``program`` begins every command of clawmem, ``server`` are the arguments of the MCP server; without hooks or server
    such entries are neither installed nor removed. ``environ`` are the variables of the processes, and ``added`` those
    of the server that a person added. ``project`` is the folder whose settings are edited instead of the user's.
    ``may_read`` permits access to conversations.
    """

    program: Sequence[str]
    hooks: Sequence[HookEntry] = ()
    server: Sequence[str] = ()
    server_name: str = "clawmem"
    environ: Mapping[str, str] = {}
    added: Mapping[str, str] = {}
    profile: str = ""
    project: str = ""
    may_read: bool = False


class FileChange(NamedTuple):
    """Change of a file, made or planned: its entries, and a new copy of the file as it was before."""

    file: str
    changed: bool
    entries: Sequence[str] = ()
    backup: str = ""


class ConfiguredCommand(NamedTuple):
    """
    Command that an agent starts, a line for a shell or words: hooks of its ``event``, or an MCP server.

    ``environ`` are variables of the entry; an agent that ``starts_clean`` passes no others on.
    """

    command: str | Sequence[str]
    environ: Mapping[str, str] = {}
    event: str = ""
    starts_clean: bool = False


class ClientState(NamedTuple):
    """
    Commands of clawmem that an agent starts; ``events`` are those at which it can run hooks.

    ``has_plugin`` says that a plugin of clawmem, which brings hooks and tools itself, is switched on; ``faults`` name
    files that are empty, or that switch off all hooks.
    """

    commands: Sequence[ConfiguredCommand]
    events: Sequence[str] = ()
    has_plugin: bool = False
    faults: Sequence[str] = ()


class MemoryFolder(NamedTuple):
    """Folder of the memories that an agent writes: the files that ``pattern`` matches, without those of ``exclude``."""

    folder: str
    pattern: str = "**/*.md"
    exclude: Sequence[str] = ()
    is_used: bool = False  # whether there is such a file


class Clients(Protocol):
    """The known agents by name: their ``titles`` for people, and what to do after an installation or a removal."""

    titles: Mapping[str, str]
    hints: Mapping[str, str]
    removal_hints: Mapping[str, str]

    def found(self) -> list[str]:
        """Return the agents that seem to be present on this machine."""

    def memories(self) -> Mapping[str, MemoryFolder]:
        """Return where agents keep memories of their own, by agent."""

    def install(self, name: str, connection: Connection, *, dry_run: bool = False) -> list[FileChange]:
        """Add entries, replacing older ones. Raises `ConfigError`; every file is read before one is written."""

    def uninstall(self, name: str, connection: Connection, *, dry_run: bool = False) -> list[FileChange]:
        """Remove the entries of clawmem, and set replaced values back. Raises `ConfigError`."""

    def state(self, name: str, project: str = "") -> ClientState:
        """Return what is installed in the user's settings, or those of *project*. Raises `ConfigError`."""
