"""Storage of the model: a folder that is replaced atomically."""

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
    Contents of the folder of a model.

    ``fingerprint`` names the embedding space, ``files`` gives the SHA-256 of each file, ``made_with`` the
    versions of the packages that wrote them. ``reference`` gives for a few texts the exact vector of the
    published weights, as little-endian float32 in hex.
    """

    fingerprint: str
    dimensions: int
    files: Mapping[str, str]
    made_with: Mapping[str, str]
    reference: Mapping[str, str]
    format: int = FORMAT


def is_stored(folder: Path) -> bool:
    """Whether *folder* contains a complete model; the manifest exists only together with all other files."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """
    Read the manifest in *folder*.

    Raises:
        EmbeddingError: there is no manifest, or it has another format.
    """
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise unusable(folder, str(error)) from error
    if manifest.format != FORMAT:
        raise unusable(folder, f"its format is {manifest.format}, not {FORMAT}")
    return manifest


def faults(folder: Path) -> list[str]:
    """Return a sentence for each file that is missing or differs from its checksum."""
    return [
        f"{folder / name} is missing or damaged"
        for name, expected in read_manifest(folder).files.items()
        if _hash(folder / name) != expected
    ]


def store(folder: Path, files: Mapping[str, bytes], manifest: Manifest) -> None:
    """
    Replace the content of *folder* by a model; other processes never see a part of it.

    Processes that have the old files open keep them. A process that is killed here leaves a hidden folder,
    which the next call deletes.

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
    """Delete the model. The manifest goes first, so that no process opens an incomplete model."""
    (folder / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def size_bytes(folder: Path) -> int:
    """Return the total size of the files in the folder in bytes."""
    return sum(path.stat().st_size for path in folder.iterdir())


def unusable(folder: Path, reason: str) -> EmbeddingError:
    """Return the error for a model that cannot be loaded."""
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
