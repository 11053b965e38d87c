from __future__ import annotations

import errno
import os
import secrets
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from clawmem.adapters.sidecar.manifest import FileRecord, Manifest
from clawmem.ports.errors import IndexBusy, IndexDamaged, IndexUnavailable, VaultFull

Chunk = bytes | memoryview

SEGMENT = ".segment"
DELETIONS = ".deletions"

_MANIFEST = "manifest.json"
_LOCK = "lock"
_CHUNK_BYTES = 1 << 20
_REPLACING_S = 2.0
_PAUSE_S = 0.005


class Folder:
    """
    The files of one index.

    Every file except the manifest is written once, under a new name, and never changed. Replacing the
    manifest is the commit: the files that it names are on disk before, and a file that it does not name is
    garbage.
    """

    def __init__(self, path: str, patience_s: float) -> None:
        self.path = path
        self._patience_s = patience_s

    def make(self) -> None:
        """Create the folder with an empty manifest; an existing index, complete or not, is not touched."""
        with self._translated():
            self._file("").mkdir(parents=True, exist_ok=True)
        if self._is_new():
            with self.writing():
                if self._is_new():
                    self.publish(Manifest())

    @contextmanager
    def writing(self) -> Iterator[None]:
        """
        Hold the write lock, which excludes all other processes, for the block.

        Raises:
            IndexBusy: another process held the lock for too long.
        """
        with ExitStack() as stack:
            with self._translated():  # translates only errors of locking, not those of the block
                stack.enter_context(locked(self._file(_LOCK), self._patience_s))
            yield

    def manifest(self) -> bytes:
        """
        Return the manifest of the last commit.

        Raises:
            IndexDamaged: there is none.
        """
        with self._translated():
            try:
                return self._file(_MANIFEST).read_bytes()
            except (FileNotFoundError, NotADirectoryError) as error:
                raise IndexDamaged(self.path, "its manifest is missing") from error

    def publish(self, manifest: Manifest) -> None:
        """Replace the manifest by *manifest*, atomically."""
        temporary = self._file(f"{secrets.token_hex(8)}.new")
        with self._translated():
            with temporary.open("xb") as file:
                file.write(manifest.to_bytes())
                _sync(file)
            _replace(temporary, self._file(_MANIFEST))
            self._sync_names()

    def write(self, suffix: str, chunks: Iterable[Chunk]) -> FileRecord:
        """Write *chunks* to a new file, which is on disk when this returns."""
        name, size, checksum = f"{secrets.token_hex(8)}{suffix}", 0, 0
        with self._translated():
            with self._file(name).open("xb") as file:
                for chunk in chunks:
                    size += file.write(chunk)
                    checksum = zlib.crc32(chunk, checksum)
                _sync(file)
            self._sync_names()
        return FileRecord(name, size, checksum)

    def open(self, record: FileRecord) -> BinaryIO:
        """
        Open a file for reading.

        Raises:
            FileNotFoundError: the file does not exist; a later commit may have deleted it.
            IndexDamaged: the file has another length than recorded.
        """
        with self._translated(translate_missing=False):
            file = self._file(record.name).open("rb")
        if os.fstat(file.fileno()).st_size != record.size:
            file.close()
            raise IndexDamaged(self.path, f"{record.name} is not as long as it was written")
        return file

    def is_intact(self, record: FileRecord) -> bool:
        """Whether a file has the recorded checksum; reads all of it."""
        checksum = 0
        try:
            with self.open(record) as file:
                while chunk := file.read(_CHUNK_BYTES):
                    checksum = zlib.crc32(chunk, checksum)
        except (FileNotFoundError, IndexDamaged):
            return False
        return checksum == record.checksum

    def sweep(self, manifest: Manifest) -> None:
        """Delete files that do not belong to *manifest*. Only the holder of the write lock may call this."""
        kept = {_MANIFEST, _LOCK, *(record.name for record in manifest.files())}
        for path in self._file("").iterdir():
            if path.name not in kept:
                with suppress(OSError):  # Windows does not delete a mapped file; a later sweep will
                    path.unlink()

    def _is_new(self) -> bool:
        # A process that was killed while creating the folder may leave other files, but no segment.
        return not self._file(_MANIFEST).exists() and not any(self._file("").glob("*" + SEGMENT))

    def _file(self, name: str) -> Path:
        return Path(self.path, name)

    def _sync_names(self) -> None:
        if sys.platform == "win32":
            return  # Windows cannot open a folder
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def _translated(self, *, translate_missing: bool = True) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno == errno.ENOENT and not translate_missing:
                raise
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise VaultFull(self.path) from error
            raise IndexUnavailable(self.path, error.strerror or str(error)) from error


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _replace(source: Path, target: Path) -> None:
    """Rename *source* to *target*. On Windows, where this fails while another process reads *target*, retry."""
    deadline = time.monotonic() + _REPLACING_S
    while True:
        try:
            source.replace(target)
            return
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


@contextmanager
def locked(path: Path, patience_s: float) -> Iterator[None]:
    """
    Hold the lock at *path* for the block; wait for it at most *patience_s* seconds.

    Raises:
        IndexBusy: another holder kept it all the time.
    """
    lock = FileLock(path, timeout=patience_s, poll_interval=_PAUSE_S, is_singleton=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise IndexBusy(str(path.parent)) from error
    try:
        yield
    finally:
        lock.release()
