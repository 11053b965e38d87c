"""A large file over HTTP: gone on with where it was cut off, checked, and there whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, NamedTuple, cast
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from clawmem.adapters.llama.model_file import part_of
from clawmem.adapters.llama.refusals import unavailable
from clawmem.ports.errors import ConfigError

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


Progress = Callable[[int, int], None]
"""Bytes that are here, and all."""

TRIES = 3  # one after the other without a byte
PAUSE_S = 1.0
_SILENCE_S = 30.0  # without a byte: the connection is dead
_LEAST_S = 0.001  # a time-out of nothing would be none
_BLOCK = 1 << 20
_PARTIAL, _BEYOND_THE_END = 206, 416
_PASSES = frozenset({408, 425, 429, _BEYOND_THE_END, 500, 502, 503, 504})


class Remote(NamedTuple):
    """A file at an address: its size in bytes, and its SHA-256 in hex."""

    url: str
    size: int
    sha256: str


def download(
    remote: Remote, target: Path, *, progress: Progress | None = None, timeout_s: float | None = None
) -> None:
    """
    Fetch *remote*, or what is missing of it, to *target*, within *timeout_s*; None takes as long as it takes.

    What came is kept beside the target until it is whole: the next call goes on with it.

    Raises:
        ModelUnavailable: the time is over, or another process is at it.
        ConfigError: it cannot be had, it is not what was published, or there is no room.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part_of(target).open("a+b") as file:
            _own(file, target)
            part = _Part(file, remote.size)
            _refuse_too_little_room(remote, target, part)
            _Transfer(remote, target, part, progress, timeout_s).run()
        _accept(remote, target, part)
    except OSError as error:
        raise ConfigError(
            f"{target} cannot be written: {error.strerror}. Free some space or permit writing, and repeat: "
            "what came so far is kept."
        ) from error


class _BrokenOff(Exception):
    """No answer, or less of it than was promised."""


class _Part:
    """What came so far, and its hash; what is longer than the whole is something else and thrown away."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file = file
        self._hash = sha256()
        self.size = 0
        there = os.fstat(file.fileno()).st_size
        if there > most:
            self.restart()
            return
        file.seek(0)
        while self.size < there and (block := file.read(_BLOCK)):
            self._count(block)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def append(self, block: bytes) -> None:
        self._file.write(block)
        self._count(block)

    def restart(self) -> None:
        self._file.truncate(0)
        self._hash, self.size = sha256(), 0

    def _count(self, block: bytes) -> None:
        self._hash.update(block)
        self.size += len(block)


class _Transfer:
    """One after the other, as many requests as it takes."""

    def __init__(
        self, remote: Remote, target: Path, part: _Part, progress: Progress | None, timeout_s: float | None
    ) -> None:
        self._remote = remote
        self._target = target
        self._part = part
        self._progress = progress
        self._until = None if timeout_s is None else time.monotonic() + timeout_s

    def run(self) -> None:
        failures = 0
        while self._part.size < self._remote.size:
            before = self._part.size
            try:
                self._receive()
            except _BrokenOff as error:
                failures = 0 if self._part.size > before else failures + 1
                if failures == TRIES:
                    raise self._failed(str(error)) from error
                self._refuse_if_late()
                time.sleep(min(PAUSE_S * failures, self._patience_s()))

    def _receive(self) -> None:
        with self._answer() as answer:
            if answer.status != _PARTIAL and self._part.size:
                self._part.restart()  # whoever does not know of parts sends the whole
            while block := _read(answer):
                self._part.append(block)
                self._tell()
        if self._part.size < self._remote.size:
            raise _BrokenOff("the connection was closed")

    @contextmanager
    def _answer(self) -> Iterator[HTTPResponse]:
        headers = {"User-Agent": "clawmem", "Range": f"bytes={self._part.size}-"}
        try:
            answer = urlopen(Request(self._remote.url, headers=headers), timeout=self._patience_s())
        except HTTPError as error:
            raise self._refused(error) from error
        except (OSError, HTTPException) as error:
            raise _BrokenOff(str(getattr(error, "reason", error))) from error
        with answer:
            yield cast("HTTPResponse", answer)

    def _refused(self, error: HTTPError) -> Exception:
        error.close()
        if error.code == _BEYOND_THE_END:
            self._part.restart()
        reason = f"HTTP {error.code} {error.reason}"
        return _BrokenOff(reason) if error.code in _PASSES else self._failed(reason)

    def _tell(self) -> None:
        if self._progress:
            self._progress(self._part.size, self._remote.size)
        self._refuse_if_late()

    def _patience_s(self) -> float:
        """How long a server may be silent: never for longer than there is time."""
        left_s = _SILENCE_S if self._until is None else self._until - time.monotonic()
        return max(_LEAST_S, min(_SILENCE_S, left_s))

    def _refuse_if_late(self) -> None:
        if self._until is not None and time.monotonic() >= self._until:
            raise unavailable(
                repr(self._target.stem),
                f"it is being downloaded, {self._so_far()} so far",
                way_out=f"Fetch the rest with: clawmem models add {self._target.stem}",
            )

    def _failed(self, reason: str) -> ConfigError:
        return ConfigError(
            f"{self._remote.url} could not be downloaded ({self._so_far()}): {reason}. Repeat to go on where it "
            f"stopped, or fetch it elsewhere: clawmem models add {self._target.stem} --file FILE"
        )

    def _so_far(self) -> str:
        return f"{_megabytes(self._part.size)} of {_megabytes(self._remote.size)} MB"


def _read(answer: HTTPResponse) -> bytes:
    """What is there of it; nothing at its end."""
    try:
        return answer.read1(_BLOCK)
    except (OSError, HTTPException) as error:
        raise _BrokenOff(str(error)) from error


def _own(file: IO[bytes], target: Path) -> None:
    try:
        _lock(file.fileno())
    except (BlockingIOError, PermissionError) as error:
        raise unavailable(repr(target.stem), "another process is downloading it") from error


def _refuse_too_little_room(remote: Remote, target: Path, part: _Part) -> None:
    missing, free = remote.size - part.size, shutil.disk_usage(target.parent).free
    if missing > free:
        raise ConfigError(
            f"{target.parent} has room for {_megabytes(free)} MB, and {_megabytes(missing)} MB are missing of "
            f"{target.name}. Free some space, and repeat."
        )


def _accept(remote: Remote, target: Path, part: _Part) -> None:
    if (part.size, part.sha256) != (remote.size, remote.sha256):
        part_of(target).unlink()
        raise ConfigError(
            f"{remote.url} sent something else than was published (sha256 {part.sha256[:12]}…, not "
            f"{remote.sha256[:12]}…). Nothing was installed. Repeat, or fetch it elsewhere: "
            f"clawmem models add {target.stem} --file FILE"
        )
    part_of(target).replace(target)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f}"
