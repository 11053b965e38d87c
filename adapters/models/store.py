"""Folders of installed models: complete or absent, with checksums and facts."""

import json
import shutil
from collections.abc import Callable, Mapping
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from clawmem.ports.errors import ConfigError, ExtraMissing

MANIFEST = "manifest.json"
EMBED, GENERATE, RERANK = "embed", "generate", "rerank"  # roles of a model


class Manifest(NamedTuple):
    """SHA-256 of each file of a model by its name, and facts that are read from the files once."""

    files: Mapping[str, str]
    facts: Mapping[str, Any]


class ModelFolder:
    """Folder *parent*/*name* with the files of one model; the manifest exists only together with all other files."""

    def __init__(self, parent: Path, name: str) -> None:
        self.name = name
        self.path = parent / name

    def is_there(self) -> bool:
        """Whether the model is installed."""
        return (self.path / MANIFEST).is_file()

    def manifest(self) -> Manifest:
        """Return the manifest. Raises `ConfigError` if the model is not installed, or its manifest is damaged."""
        try:
            return Manifest(**json.loads((self.path / MANIFEST).read_text("utf-8")))
        except FileNotFoundError:
            raise ConfigError(
                f"The model {self.name!r} is not there. Run: clawmem models add {self.name}  "
                "(with FILE it takes one that you have.)"
            ) from None
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(self.advice(str(error))) from error

    def advice(self, reason: str) -> str:
        """Return the message for a model whose files cannot be used."""
        return f"The model in {self.path} cannot be used: {reason}. Run: clawmem models add {self.name}"

    def size_bytes(self) -> int:
        """Return the total size of the files in bytes; 0 if the model is not installed."""
        return sum(path.stat().st_size for path in self.path.glob("*"))

    def install(self, collect: Callable[[Path], Mapping[str, Any]]) -> None:
        """
        Replace the model; other processes see all of it or nothing, and keep old files that they have open.

        A process that is killed here leaves a hidden folder, which the next call deletes.

        Args:
            collect: Writes the files into the empty folder that it is given, and returns the facts about them; raises
                `ConfigError` to refuse them.
        """
        parent, prefix = self.path.parent, f".{self.name}-"
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for leftover in parent.glob(f"{prefix}*"):
                shutil.rmtree(leftover, ignore_errors=True)
            draft = Path(mkdtemp(prefix=prefix, dir=parent))
            try:
                facts = collect(draft)
                files = {path.name: sha256_of(path) for path in sorted(draft.iterdir())}
                (draft / MANIFEST).write_text(json.dumps({"files": files, "facts": facts}, indent=1), "utf-8")
                self.remove()
                draft.rename(self.path)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        except OSError as error:
            raise ConfigError(
                f"{self.path} cannot be written: {error.strerror}. Free some space or permit writing, and repeat."
            ) from error

    def remove(self) -> None:
        """Delete the model. The manifest goes first, so that no process opens an incomplete model."""
        (self.path / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)


def require(extra: str, *packages: str) -> None:
    """Raise `ExtraMissing` if one of the *packages* of *extra* is not installed; nothing is imported."""
    for package in packages:
        if find_spec(package) is None:
            raise ExtraMissing(package, extra=extra)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the file in hex."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
