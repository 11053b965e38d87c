from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

from clawmem.adapters.files.regular import open_regular_file
from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.records import Scan, SourceFile, SourceStamp

MAX_FILE = 1_000_000_000  # bytes; a file is read into memory, and a larger one is no note
QUIET_NS = 300_000_000  # a file changed within this time may be incomplete
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)

Selects = Callable[[str], bool]


class DiskFiles:
    """
    ``FileSource`` over folders of this machine.

    Args:
        hard_links: Whether to read files with several hard links, which may also be files in other folders.
    """

    def __init__(self, *, hard_links: bool = True) -> None:
        self._hard_links = hard_links

    def scan(self, root: str, *, enter: Selects, wanted: Selects) -> Scan:
        if not Path(root).is_dir():
            return Scan((), root_exists=False)
        files: list[SourceFile] = []
        unreadable, misnamed, links = list[str](), list[str](), list[str]()
        folders = [(root, "")]  # a stack, so the depth of folders is not limited
        while folders:
            folder, relative = folders.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: not entry.name.startswith("."))
            except OSError:
                unreadable.append(relative)
                continue
            for entry in listed:
                path = f"{relative}/{entry.name}" if relative else entry.name
                name = _printable(path)
                try:
                    if _is_link(entry):
                        links.append(f"{name}/" if _leads_to_folder(entry) else name)
                        continue
                    is_folder = entry.is_dir(follow_symlinks=False)
                    selects = enter if is_folder else wanted
                    if not (is_folder or entry.is_file(follow_symlinks=False)) or not selects(name):
                        continue
                    if name != path:
                        misnamed.append(name)
                    elif is_folder:
                        folders.append((entry.path, path))
                    else:
                        status = entry.stat(follow_symlinks=False)
                        files.append(SourceFile(path, SourceStamp(status.st_size, status.st_mtime_ns)))
                except FileNotFoundError:
                    continue  # deleted since the listing
                except OSError:  # omitting the file would look like a deletion
                    unreadable.append(name)
        # A root that cannot be listed counts as missing: an empty scan would look like deletions.
        return Scan(
            tuple(sorted(files, key=attrgetter("path"))),
            root_exists="" not in unreadable,
            unreadable=tuple(sorted(unreadable)),
            misnamed=tuple(sorted(misnamed)),
            links=tuple(sorted(links)),
        )

    def read(self, root: str, path: str) -> bytes:
        try:
            return _read(_inside(root, path), hard_links=self._hard_links)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SourceMissing(_printable(path), "it is gone") from error
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise SourceUnreadable(_printable(path), reason) from error
        except (ValueError, RuntimeError) as error:  # a null byte, or a loop of links before Python 3.13
            raise SourceUnreadable(_printable(path), str(error).lower()) from error

    def read_above(self, root: str, path: str, *, up_to: str) -> list[tuple[str, bytes]]:
        contents: list[tuple[str, bytes]] = []
        for folder in (Path(root), *Path(root).parents):
            if folder != Path(root):
                with suppress(OSError):
                    contents.append((str(folder), _read(folder / path, hard_links=True)))
            if os.path.lexists(folder / up_to):
                return contents
        return []


class LiveFiles(DiskFiles):
    """
    ``FileSource`` that tolerates intermediate states of files and folders.

    A file that is still being written counts as unreadable. An empty folder that has replaced another one
    counts as an unmounted mount point: the root is reported as missing, so nothing counts as deleted.
    """

    def __init__(self) -> None:
        super().__init__()
        self._roots: dict[str, tuple[int, int]] = {}
        self._young: set[tuple[str, str]] = set()

    def scan(self, root: str, *, enter: Selects, wanted: Selects) -> Scan:
        identity = folder_identity(root)
        scan = super().scan(root, enter=enter, wanted=wanted)
        if identity is None or not scan.root_exists:
            return scan
        if self._roots.get(root, identity) != identity and not any(Path(root).iterdir()):
            return Scan((), root_exists=False)
        self._roots[root] = identity
        now_ns = time.time_ns()
        self._young = {
            (root, file.path)
            for file in scan.files
            if 0 <= now_ns - file.stamp.mtime_ns < QUIET_NS  # a time in the future says nothing
        }
        return scan

    def read(self, root: str, path: str) -> bytes:
        if (root, path) in self._young:
            raise SourceUnreadable(path, "it is being written")
        return super().read(root, path)


def folder_identity(root: str) -> tuple[int, int] | None:
    """Return the device and inode of a folder, which differ from those of a replacement; ``None`` if it is missing."""
    try:
        status = Path(root).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_link(entry: os.DirEntry[str]) -> bool:
    if sys.platform == "win32" and not entry.is_symlink():
        # A junction is a link that Python before 3.12 reports as a folder. On Windows this stat costs nothing.
        return entry.stat(follow_symlinks=False).st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT
    return entry.is_symlink()


def _leads_to_folder(link: os.DirEntry[str]) -> bool:
    try:
        return link.is_dir()
    except OSError:  # for example a loop of links
        return False


def _printable(path: str) -> str:
    """Return *path* with backslash escapes for bytes that are not UTF-8."""
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode("utf-8")


def _inside(root: str, path: str) -> Path:
    """Return the location of *path* with its folder resolved; opening the file follows or refuses a link at the end."""
    base = Path(root).resolve()
    location = base / path
    location = location.parent.resolve() / location.name
    ends = location.resolve() if location.is_symlink() else location
    if location.name == ".." or not all(
        place != base and place.is_relative_to(base) for place in (location, ends)
    ):
        raise PermissionError(errno.EACCES, "it lies outside the folder")
    return location


def _read(path: Path, *, hard_links: bool) -> bytes:
    with open_regular_file(path, _NO_LINKS) as file:
        status = os.fstat(file.fileno())
        if status.st_size > MAX_FILE:
            raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes, {MAX_FILE:,} are the most")
        if not hard_links and status.st_nlink > 1:
            raise PermissionError(errno.EACCES, "it has hard links, which may be files of other folders")
        return file.read()
