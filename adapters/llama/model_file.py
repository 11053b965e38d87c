"""A model's file, and what is remembered about it beside it: reading a gigabyte twice tells nobody more."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from clawmem.adapters.llama.gguf import Header, NotGguf, Role, read_header
from clawmem.ports.errors import ConfigError

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Known:
    """What was found out about a file that had ``size`` and ``modified_ns``: its hash, and its header."""

    size: int
    modified_ns: int
    sha256: str
    architecture: str
    title: str
    role: Role
    context: int
    width: int

    @property
    def header(self) -> Header:
        """What the file says about itself."""
        return Header(self.architecture, self.title, self.role, self.context, self.width)


def known(path: Path) -> Known:
    """
    What the model at *path* is; read once, and again when the file changed.

    Raises:
        ConfigError: there is none, or it cannot be read as a model.
    """
    try:
        state = path.stat()
        kept = _kept(path)
        if kept and (kept.size, kept.modified_ns) == (state.st_size, state.st_mtime_ns):
            return kept
        return remember(path, hash_of(path))
    except OSError as error:
        raise ConfigError(f"The model {path} cannot be read: {error.strerror}.") from error


def remember(path: Path, hash_: str) -> Known:
    """
    Note down what the model at *path* is, beside it; *hash_* is its SHA-256 in hex.

    Raises:
        ConfigError: it is no model that llama.cpp reads.
        OSError: it cannot be read.
    """
    state = path.stat()
    try:
        header = read_header(path)
    except NotGguf as error:
        raise ConfigError(f"{path} is no model for llama.cpp: {error}.") from error
    found = Known(state.st_size, state.st_mtime_ns, hash_, *header)
    with suppress(OSError):  # a folder that nobody may write to costs time, nothing else
        _write(note_of(path), json.dumps(asdict(found), indent=1))
    return found


def hash_of(path: Path) -> str:
    """The SHA-256 of the file, in hex."""
    found = sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def note_of(path: Path) -> Path:
    """Where it is noted down what the model at *path* is."""
    return path.with_name(f"{path.name}.json")


def remove(path: Path) -> None:
    """Take the model away, with what was noted and what a download left."""
    for one in (path, note_of(path), part_of(path)):
        one.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """Where a download gathers what will be *path*."""
    return path.with_name(f"{path.name}.part")


def _kept(path: Path) -> Known | None:
    with suppress(OSError, ValueError, TypeError, LookupError):
        noted = json.loads(note_of(path).read_text("utf-8"))
        return Known(**{**noted, "role": Role(noted["role"])}) if isinstance(noted, dict) else None
    return None


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, "utf-8")
    draft.replace(path)
