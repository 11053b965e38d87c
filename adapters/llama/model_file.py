"""Model files, with a JSON file of facts next to each, so that a gigabyte is hashed only once."""

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
class ModelFacts:
    """Facts about a model file of this ``size`` and ``modified_ns``: its hash and the fields of its header."""

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
        """The header of the file."""
        return Header(self.architecture, self.title, self.role, self.context, self.width)


def known(path: Path) -> ModelFacts:
    """
    Return the facts about the model at *path*. The file is read once, and again when it changed.

    Raises:
        ConfigError: the file does not exist or is no readable model.
    """
    try:
        state = path.stat()
        kept = _read_facts(path)
        if kept and (kept.size, kept.modified_ns) == (state.st_size, state.st_mtime_ns):
            return kept
        return record_facts(path, hash_of(path))
    except OSError as error:
        raise ConfigError(f"The model {path} cannot be read: {error.strerror}.") from error


def record_facts(path: Path, hash_: str) -> ModelFacts:
    """
    Record the facts about the model at *path* next to it; *hash_* is its SHA-256 in hex.

    Raises:
        ConfigError: the file is no GGUF model.
        OSError: the file cannot be read.
    """
    state = path.stat()
    try:
        header = read_header(path)
    except NotGguf as error:
        raise ConfigError(f"{path} is not a model for llama.cpp: {error}.") from error
    found = ModelFacts(state.st_size, state.st_mtime_ns, hash_, *header)
    with suppress(OSError):  # in a read-only folder the facts are only computed again
        _write(facts_file(path), json.dumps(asdict(found), indent=1))
    return found


def hash_of(path: Path) -> str:
    """Return the SHA-256 of the file in hex."""
    found = sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def facts_file(path: Path) -> Path:
    """Return the path of the file with the facts about the model at *path*."""
    return path.with_name(f"{path.name}.json")


def remove(path: Path) -> None:
    """Delete the model, the facts about it, and the remains of a download."""
    for one in (path, facts_file(path), part_of(path)):
        one.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """Return the path at which a download collects the file *path*."""
    return path.with_name(f"{path.name}.part")


def _read_facts(path: Path) -> ModelFacts | None:
    with suppress(OSError, ValueError, TypeError, LookupError):
        noted = json.loads(facts_file(path).read_text("utf-8"))
        return ModelFacts(**{**noted, "role": Role(noted["role"])}) if isinstance(noted, dict) else None
    return None


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, "utf-8")
    draft.replace(path)
