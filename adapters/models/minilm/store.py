"""The model on disk: a folder that is there whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from clawmem.ports.errors import EmbeddingError

MODEL, TOKENIZER, MANIFEST = "model.onnx", "tokenizer.json", "manifest.json"
FORMAT = 1

_ADD_AGAIN = "Run: clawmem models add minilm"


@dataclass(frozen=True, slots=True)
class Manifest:
    """
    What lies in the folder.

    ``fingerprint`` names the vector space, ``files`` the SHA-256 of each file, ``made_with`` the versions of
    the packages that wrote them. ``reference`` gives for a few texts the vector of the published weights,
    unrounded: little-endian float32 in hex.
    """

    fingerprint: str
    dimensions: int
    files: Mapping[str, str]
    made_with: Mapping[str, str]
    reference: Mapping[str, str]
    format: int = FORMAT


def is_stored(folder: Path) -> bool:
    """Whether there is a model; its manifest is there only when all of it is."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """
    What lies in *folder*.

    Raises:
        EmbeddingError: nothing, or what another version wrote.
    """
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise unusable(folder, str(error)) from error
    if manifest.format != FORMAT:
        raise unusable(folder, f"its format is {manifest.format}, not {FORMAT}")
    return manifest


def faults(folder: Path) -> list[str]:
    """Every file that is missing or not as it was written, by reading them all."""
    return [
        f"{folder / name} is missing or damaged"
        for name, expected in read_manifest(folder).files.items()
        if _hash(folder / name) != expected
    ]


def store(folder: Path, files: Mapping[str, bytes], manifest: Manifest) -> None:
    """
    Put a model in place of whatever is in *folder*; it is never there in part.

    Who has the old files open keeps them. A process that is killed here leaves a hidden folder beside it,
    which the next call clears away.

    Raises:
        EmbeddingError: the folder cannot be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        for name, content in {**files, MANIFEST: json.dumps(asdict(manifest), indent=1).encode()}.items():
            _write(draft / name, content)
        remove(folder)
        draft.rename(folder)
        _clear_drafts(folder)
    except OSError as error:
        raise EmbeddingError(
            f"{folder} cannot be written: {error.strerror}. Free some space or permit writing, and repeat."
        ) from error


def remove(folder: Path) -> None:
    """Take the model away; it is gone for others before its files are."""
    (folder / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def size_bytes(folder: Path) -> int:
    """What the folder takes."""
    return sum(path.stat().st_size for path in folder.iterdir())


def unusable(folder: Path, reason: str) -> EmbeddingError:
    """What to raise when the model cannot be loaded."""
    return EmbeddingError(f"The model in {folder} cannot be used: {reason}. {_ADD_AGAIN}")


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _clear_drafts(folder: Path) -> None:
    for left in folder.parent.glob(f".{folder.name}-*"):
        shutil.rmtree(left, ignore_errors=True)


def _hash(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
