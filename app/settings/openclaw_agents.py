"""Agents of OpenClaw: the files of the memory of each, and the settings of that memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clawmem.app.environment.private_files import make_folder, write_whole
from clawmem.domain.openclaw.chunks import CHUNK_TOKENS, OVERLAP_TOKENS
from clawmem.ports.errors import ConfigError, InvalidInput, NotFound

STATE_VARIABLE = "OPENCLAW_STATE_DIR"
UNCHOSEN: Mapping[str, object] = {
    "collections": {},
    "named": None,
    "global_context": "",
    "backend": None,
    "ranking": "openclaw",
}


class Chunking(BaseModel):
    """Size and overlap of chunks, in tokens of four characters."""

    model_config = ConfigDict(frozen=True)

    tokens: int = CHUNK_TOKENS
    overlap: int = OVERLAP_TOKENS


class AgentMemorySettings(BaseModel):
    """
    Settings of the memory of one agent.

    ``indexed`` is the chunking of the whole index; ``None`` until a pass with the current one was completed.
    """

    workspace: Path
    extra: list[Path] = Field(default_factory=list)
    sessions: bool = False
    chunking: Chunking = Chunking()
    indexed: Chunking | None = None


class NoMemory(NotFound):
    """The agent has no memory yet."""

    def __init__(self, agent: str) -> None:
        super().__init__("memory of the agent", agent)
        remedy = f"Run: clawmem openclaw index --agent {agent} --workspace FOLDER"
        self.args = (f"The agent {agent!r} has no memory here. {remedy}",)


class AgentFiles(NamedTuple):
    """The files of the memory of ``agent``: its own vault, and its settings."""

    agent: str
    vault: Path
    settings: Path

    def read(self) -> AgentMemorySettings | None:
        """Return the settings; ``None`` if the agent has no memory yet. Raises `ConfigError` for a damaged file."""
        try:
            return AgentMemorySettings.model_validate_json(self.settings.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            why = str(error).partition("\n")[0]
            raise ConfigError(
                f"Cannot read the settings of the agent's memory, {self.settings}: {why}. Delete the file, and run: "
                "clawmem openclaw index --workspace FOLDER"
            ) from error

    def known(self) -> AgentMemorySettings:
        """Return the settings; raise `NoMemory` if there are none."""
        if found := self.read():
            return found
        raise NoMemory(self.agent)

    def changed(
        self,
        workspace: str,
        extra: Sequence[str] | None,
        sessions: bool | None,
        tokens: int | None,
        overlap: int | None,
    ) -> AgentMemorySettings:
        """
        Return the settings with the values that were given.

        Raises:
            NoMemory: There are no settings, and no workspace is given.
            InvalidInput: A path does not exist, or the overlap is as large as a chunk.
        """
        before = (
            AgentMemorySettings(workspace=Path(workspace)) if workspace and not self.read() else self.known()
        )
        tokens = tokens or before.chunking.tokens
        overlap = before.chunking.overlap if overlap is None else overlap
        if overlap >= tokens:
            raise InvalidInput(
                "OUT_OF_BOUNDS",
                f"A chunk of {tokens} tokens cannot overlap by {overlap}. Choose --chunk-overlap below {tokens}.",
            )
        changes = {
            "workspace": _existing(workspace, is_folder=True) if workspace else before.workspace,
            "extra": before.extra if extra is None else [_existing(one) for one in extra if one],
            "sessions": before.sessions if sessions is None else sessions,
            "chunking": Chunking(tokens=tokens, overlap=overlap),
        }
        return before.model_copy(update=changes)

    def write(self, settings: AgentMemorySettings) -> None:
        """Write the settings in one step."""
        make_folder(self.settings.parent)
        write_whole(self.settings, settings.model_dump_json(indent=2).encode())


def state_of_openclaw(env: Mapping[str, str], home: Path) -> Path:
    """Return the folder in which OpenClaw keeps its agents."""
    chosen = env.get(STATE_VARIABLE)
    return Path(chosen).expanduser() if chosen else home / ".openclaw"


def files_of_agent(state: Path, agent: str) -> AgentFiles:
    """Return the files of the memory of *agent*. No two agents share one: an id has no capital letters."""
    folder = state / "clawmem"
    return AgentFiles(agent, folder / f"{agent}.sqlite", folder / f"{agent}.json")


def _existing(text: str, *, is_folder: bool = False) -> Path:
    place = Path(text).expanduser().resolve()
    if not (place.is_dir() or (place.is_file() and not is_folder)):
        kind = "folder" if is_folder else "file or folder"
        raise InvalidInput("INVALID_PATH", f"{text} is not a {kind}. Create it, or give the path of one.")
    return place
