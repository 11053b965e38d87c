"""HTTP download of a large file: resumable, verified by checksum, and installed only when complete."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, NamedTuple, cast
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from filelock import FileLock, Timeout

from clawmem.adapters.llama.model_file import part_of
from clawmem.adapters.llama.refusals import unavailable
from clawmem.ports.errors import ConfigError

Progress = Callable[[int, int], None]
"""Called with the number of bytes received so far, and the total."""

TRIES = 3  # attempts in a row that receive no byte
PAUSE_S = 1.0
_SILENCE_S = 30.0  # after this time without a byte the connection counts as dead
_LEAST_S = 0.001  # a timeout of zero would mean no timeout
_BLOCK = 1 << 20
_PARTIAL, _BEYOND_THE_END = 206, 416
_PASSES = frozenset({408, 425, 429, _BEYOND_THE_END, 500, 502, 503, 504})


class RemoteFile(NamedTuple):
    """A file on a server: URL, size in bytes, and SHA-256 in hex."""

    url: str
    size: int
    sha256: str


def download(
    remote: RemoteFile, target: Path, *, progress: Progress | None = None, timeout_s: float | None = None
) -> None:
    """
    Fetch *remote*, or the missing part of it, to *target* within *timeout_s* (None: without a limit).

    The part that was received is stored next to the target until the file is complete; the next call resumes
    it.

    Raises:
        ModelUnavailable: the time is over, or another process is downloading the file.
        ConfigError: the download failed, the file has another checksum, or the disk has too little space.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _lock_of(target), part_of(target).open("a+b") as file:
            part = _Part(file, remote.size)
            _check_space(remote, target, part)
            _Transfer(remote, target, part, progress, timeout_s).run()
        _accept(remote, target, part)
    except OSError as error:
        raise ConfigError(
            f"{target} cannot be written: {error.strerror}. Free some space or permit writing, and repeat: "
            "the part received so far is kept."
        ) from error


class _DownloadInterrupted(Exception):
    """The request failed, or the connection ended before the whole file was received."""


class _Part:
    """The part of the file received so far, with its hash. A part that is longer than the file is discarded."""

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
    """A download with as many sequential requests as needed."""

    def __init__(
        self,
        remote: RemoteFile,
        target: Path,
        part: _Part,
        progress: Progress | None,
        timeout_s: float | None,
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
            except _DownloadInterrupted as error:
                failures = 0 if self._part.size > before else failures + 1
                if failures == TRIES:
                    raise self._failed(str(error)) from error
                self._check_time()
                time.sleep(min(PAUSE_S * failures, self._timeout_s()))

    def _receive(self) -> None:
        with self._response() as answer:
            if answer.status != _PARTIAL and self._part.size:
                self._part.restart()  # a server without support for ranges sends the whole file
            while block := _read(answer):
                self._part.append(block)
                self._report_progress()
        if self._part.size < self._remote.size:
            raise _DownloadInterrupted("the connection was closed")

    @contextmanager
    def _response(self) -> Iterator[HTTPResponse]:
        headers = {"User-Agent": "clawmem", "Range": f"bytes={self._part.size}-"}
        try:
            answer = urlopen(Request(self._remote.url, headers=headers), timeout=self._timeout_s())
        except HTTPError as error:
            raise self._refused(error) from error
        except (OSError, HTTPException) as error:
            raise _DownloadInterrupted(str(getattr(error, "reason", error))) from error
        with answer:
            yield cast("HTTPResponse", answer)

    def _refused(self, error: HTTPError) -> Exception:
        error.close()
        if error.code == _BEYOND_THE_END:
            self._part.restart()
        reason = f"HTTP {error.code} {error.reason}"
        return _DownloadInterrupted(reason) if error.code in _PASSES else self._failed(reason)

    def _report_progress(self) -> None:
        if self._progress:
            self._progress(self._part.size, self._remote.size)
        self._check_time()

    def _timeout_s(self) -> float:
        """Return how long the server may be silent, at most the time that is left."""
        left_s = _SILENCE_S if self._until is None else self._until - time.monotonic()
        return max(_LEAST_S, min(_SILENCE_S, left_s))

    def _check_time(self) -> None:
        if self._until is not None and time.monotonic() >= self._until:
            raise unavailable(
                repr(self._target.stem),
                f"it is being downloaded, {self._so_far()} so far",
                remedy=f"Fetch the rest with: clawmem models add {self._target.stem}",
            )

    def _failed(self, reason: str) -> ConfigError:
        return ConfigError(
            f"{self._remote.url} could not be downloaded ({self._so_far()}): {reason}. Repeat to go on where it "
            f"stopped, or fetch it elsewhere: clawmem models add {self._target.stem} --file FILE"
        )

    def _so_far(self) -> str:
        return f"{_megabytes(self._part.size)} of {_megabytes(self._remote.size)} MB"


def _read(answer: HTTPResponse) -> bytes:
    """Return the bytes that have arrived; empty at the end of the response."""
    try:
        return answer.read1(_BLOCK)
    except (OSError, HTTPException) as error:
        raise _DownloadInterrupted(str(error)) from error


@contextmanager
def _lock_of(target: Path) -> Iterator[None]:
    lock = FileLock(part_of(target), blocking=False, is_singleton=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise unavailable(repr(target.stem), "another process is downloading it") from error
    try:
        yield
    finally:
        lock.release()


def _check_space(remote: RemoteFile, target: Path, part: _Part) -> None:
    missing, free = remote.size - part.size, shutil.disk_usage(target.parent).free
    if missing > free:
        raise ConfigError(
            f"{target.parent} has room for {_megabytes(free)} MB, and {_megabytes(missing)} MB are missing of "
            f"{target.name}. Free some space, and repeat."
        )


def _accept(remote: RemoteFile, target: Path, part: _Part) -> None:
    if (part.size, part.sha256) != (remote.size, remote.sha256):
        part_of(target).unlink()
        raise ConfigError(
            f"{remote.url} sent a file that differs from the published one (sha256 {part.sha256[:12]}…, not "
            f"{remote.sha256[:12]}…). Nothing was installed. Repeat, or fetch it elsewhere: "
            f"clawmem models add {target.stem} --file FILE"
        )
    part_of(target).replace(target)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f}"
