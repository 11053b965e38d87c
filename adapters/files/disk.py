from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

from clawmem.adapters.files.regular import open_regular_file
from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.records import Scan, SourceFile, SourceStamp

MAX_FILE = 1_000_000_000  # bytes; a file is read into memory, and a larger one is no note
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


class DiskFiles:
    """
    ``FileSource`` over folders of this machine.

    Args:
        hard_links: Whether to read files with several hard links, which may also be files in other folders.
    """

    _hard_links = True

    def __init__(self, *, hard_links: bool = True) -> None:
        self._hard_links = hard_links

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        if not Path(root).is_dir():
            return Scan((), root_exists=False)
        walk = _FolderScan(enter, wanted)
        walk.run(root)
        # A root that cannot be listed counts as missing: an empty scan would look like deletions.
        return Scan(
            tuple(sorted(walk.files, key=attrgetter("path"))),
            root_exists="" not in walk.unreadable,
            unreadable=tuple(sorted(walk.unreadable)),
            misnamed=tuple(sorted(walk.misnamed)),
            links=tuple(sorted(walk.links)),
        )

    def read(self, root: str, path: str) -> bytes:
        try:
            return _read(_inside(root, path), hard_links=self._hard_links)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SourceMissing(_printable(path), "it is gone") from error
        except OSError as error:
            raise SourceUnreadable(_printable(path), _reason(error)) from error
        except (ValueError, RuntimeError) as error:  # a null byte, or a loop of links before Python 3.13
            raise SourceUnreadable(_printable(path), str(error).lower()) from error

    def read_above(self, root: str, path: str, *, up_to: str) -> list[tuple[str, bytes]]:
        found: list[tuple[str, bytes]] = []
        for folder in (Path(root), *Path(root).parents):
            if folder != Path(root):
                with suppress(OSError):
                    found.append((str(folder), _read(folder / path, hard_links=True)))
            if os.path.lexists(folder / up_to):
                return found
        return []


class _FolderScan:
    """One scan. Uses a stack instead of recursion, so the depth of folders is not limited."""

    def __init__(self, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> None:
        self._enter = enter
        self._wanted = wanted
        self.files: list[SourceFile] = []
        self.unreadable: list[str] = []
        self.misnamed: list[str] = []
        self.links: list[str] = []

    def run(self, root: str) -> None:
        folders = [(root, "")]
        while folders:
            folder, relative = folders.pop()
            try:
                with os.scandir(folder) as entries:
                    folders.extend(self._folders(entries, f"{relative}/" if relative else ""))
            except OSError:
                self.unreadable.append(relative)

    def _folders(self, entries: Iterator[os.DirEntry[str]], prefix: str) -> Iterator[tuple[str, str]]:
        """Iterate over the folders to enter, and collect the files on the way."""
        for entry in sorted(entries, key=_is_visible):
            path = prefix + entry.name
            if _is_link(entry):
                self.links.append(_printable(f"{path}/" if _leads_to_folder(entry) else path))
                continue
            if entry.is_dir(follow_symlinks=False):
                if self._asked(self._enter, path):
                    yield entry.path, path
            elif entry.is_file(follow_symlinks=False) and self._asked(self._wanted, path):
                self._keep(entry, path)

    def _asked(self, question: Callable[[str], bool], path: str) -> bool:
        """Whether *path* is selected; a name that is not UTF-8 is recorded as misnamed instead."""
        name = _printable(path)
        yes = question(name)
        if yes and name != path:
            self.misnamed.append(name)
        return yes and name == path

    def _keep(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # deleted since the listing
        except OSError:
            # Omitting the file would look like a deletion.
            self.unreadable.append(path)
            return
        self.files.append(SourceFile(path, SourceStamp(found.st_size, found.st_mtime_ns)))


def _is_visible(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".")


def _is_link(entry: os.DirEntry[str]) -> bool:
    if sys.platform == "win32" and not entry.is_symlink():
        # A junction is a link that Python before 3.12 reports as a folder. On Windows this stat costs
        # nothing.
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
    # Strings instead of paths, which take twice as long; an update resolves every file of a folder.
    base = os.path.realpath(root)
    folder, name = os.path.split(os.path.join(base, path))  # noqa: PTH118
    where = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
    ends = os.path.realpath(where) if os.path.islink(where) else where  # noqa: PTH114
    if name == ".." or not (_is_below(where, base) and _is_below(ends, base)):
        raise PermissionError(errno.EACCES, "it lies outside the folder")
    return Path(where)


def _is_below(place: str, base: str) -> bool:
    return os.path.normcase(place).startswith(os.path.join(os.path.normcase(base), ""))  # noqa: PTH118


def _read(path: Path, *, hard_links: bool) -> bytes:
    with open_regular_file(path, _NO_LINKS) as file:
        status = os.fstat(file.fileno())
        if status.st_size > MAX_FILE:
            raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes, {MAX_FILE:,} are the most")
        if not hard_links and status.st_nlink > 1:
            raise PermissionError(errno.EACCES, "it has hard links, which may be files of other folders")
        return file.read()


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
