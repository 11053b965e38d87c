import errno
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from stat import S_ISREG
from typing import BinaryIO

from clawmem.ports.errors import FileNotCreated, SourceMissing, SourceUnreadable
from clawmem.ports.records import Scan, SourceFile, SourceStamp

MAX_FILE = 1_000_000_000  # bytes; a file is read into memory, and a larger one is no note
# Non-blocking, because opening a pipe without a writer would otherwise wait forever.
_READ_ONLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

Selects = Callable[[str], bool]


def open_regular_file(path: str | os.PathLike[str], flags: int = 0) -> BinaryIO:
    """
    Open *path*, which is untrusted, for reading. Links are followed unless *flags* has ``O_NOFOLLOW``.

    Raises:
        OSError: the file cannot be opened, or is a pipe, a device, a socket or a folder.
    """
    irregular = PermissionError(errno.EACCES, "it is not a regular file", str(path))
    try:
        handle = os.open(path, _READ_ONLY | flags)
    except OSError as error:
        raise irregular if error.errno == errno.ENXIO else error from None  # a socket
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise irregular
    return os.fdopen(handle, "rb")


def write_draft(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write *content* to the new file *path*, and both to the disk; an earlier draft at *path* is replaced."""
    path.unlink(missing_ok=True)  # left by a killed process
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:  # noqa: PTH123
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write *content* to the file *path*, new or not, and to the disk; as a whole or not at all."""
    draft = path.with_name(f".note.{os.getpid()}.{os.urandom(4).hex()}.part")
    try:
        write_draft(draft, content, mode)
        draft.replace(path)
        flush_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Write the names in *folder* to the disk, where the system can."""
    with suppress(OSError):  # Windows opens no folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@dataclass(frozen=True, kw_only=True)
class DiskFiles:
    """
    ``FileSource`` over folders of this machine.

    With *hard_links* it reads files with several hard links, which may also be files in other folders.
    """

    hard_links: bool = True

    def scan(self, root: str, *, enter: Selects, wanted: Selects) -> Scan:
        files: list[SourceFile] = []
        unreadable, misnamed, links, special = list[str](), list[str](), list[str](), list[str]()
        folders = [(root, "")]  # a stack, so the depth of folders is not limited
        while folders:
            folder, relative = folders.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: not entry.name.startswith("."))
            except OSError as error:
                if not relative:  # an empty scan would look like deletions
                    is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
                    fault = f"{root} cannot be read: {(error.strerror or '').lower()}. Check its permissions."
                    return Scan((), root_exists=False, problem="" if is_gone else fault)
                unreadable.append(relative)
                continue
            for entry in listed:
                path = f"{relative}/{entry.name}" if relative else entry.name
                name = _printable(path)
                try:
                    is_folder = os.path.isdir(entry.path)  # noqa: PTH112  with no error for a loop of links
                    if not (enter if is_folder else wanted)(name):
                        continue
                    if entry.is_symlink():
                        links.append(f"{name}/" if is_folder else name)
                    elif not (is_folder or entry.is_file(follow_symlinks=False)):
                        special.append(name)
                    elif name != path:
                        misnamed.append(name)
                    elif is_folder:
                        folders.append((entry.path, path))
                    elif not os.access(entry.path, os.R_OK):
                        entry.stat(follow_symlinks=False)  # raises if it was deleted since the listing
                        unreadable.append(name)
                    else:
                        status = entry.stat(follow_symlinks=False)
                        stamp = SourceStamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                        files.append(SourceFile(path, stamp))
                except FileNotFoundError:
                    continue  # deleted since the listing
                except OSError:  # omitting the file would look like a deletion
                    unreadable.append(name)
        return Scan(
            tuple(sorted(files)),
            unreadable=tuple(sorted(unreadable)),
            misnamed=tuple(sorted(misnamed)),
            links=tuple(sorted(links)),
            special=tuple(sorted(special)),
        )

    def read(self, root: str, path: str) -> bytes:
        try:
            base, (folder, name) = os.path.realpath(root), os.path.split(path)
            folder = os.path.realpath(os.path.join(base, folder))  # noqa: PTH118
            if ".." in PurePath(path).parts or os.path.commonpath((base, folder)) != base:
                raise PermissionError(errno.EACCES, "it lies outside the folder")
            with open_regular_file(
                Path(folder, name), getattr(os, "O_NOFOLLOW", 0)
            ) as file:  # which refuses a link at the end
                status = os.fstat(file.fileno())
                if status.st_size > MAX_FILE:
                    raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes, {MAX_FILE:,} are the most")
                if not self.hard_links and status.st_nlink > 1:
                    raise PermissionError(errno.EACCES, "it has hard links, maybe files of other folders")
                return file.read()
        except (FileNotFoundError, NotADirectoryError) as error:
            if Path(folder, f".{name}.icloud").exists():
                raise SourceUnreadable(_printable(path), "iCloud has not downloaded it") from error
            raise SourceMissing(_printable(path), "it is gone") from error
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise SourceUnreadable(_printable(path), reason) from error
        except (ValueError, RuntimeError) as error:  # a null byte, or a loop of links before Python 3.13
            raise SourceUnreadable(_printable(path), str(error).lower()) from error


def folder_identity(root: str) -> tuple[int, int] | None:
    """Return the device and inode of a folder, which differ from those of a replacement; ``None`` if it is missing."""
    try:
        status = Path(root).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _printable(path: str) -> str:
    """Return *path* with backslash escapes for bytes that are not UTF-8."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


class NewDiskFiles:
    """``NewFiles`` in folders of this machine."""

    def create(self, root: str, folder: str, names: Iterable[str], text: str) -> str:
        base = Path(os.path.realpath(root))
        location = base / folder
        if not base.is_dir():
            raise FileNotCreated(root, "it is no folder, or its disk is not mounted")
        if not Path(os.path.realpath(location)).is_relative_to(base):
            raise FileNotCreated(str(location), f"it lies outside of {root}")
        draft = location / f".note.{os.getpid()}.{os.urandom(4).hex()}.part"
        try:
            location.mkdir(parents=True, exist_ok=True)
            write_draft(draft, text.encode("utf-8"))
            path = next(path for path in (location / name for name in names) if _publish(draft, path))
            flush_folder(location)
        except OSError as error:
            raise FileNotCreated(str(location), (error.strerror or type(error).__name__).lower()) from error
        finally:
            with suppress(OSError):
                draft.unlink()
        return path.relative_to(base).as_posix()

    def rewrite(self, root: str, path: str, change: Callable[[str], str | None]) -> bool:
        file = Path(root) / path
        try:
            text = change(file.read_bytes().decode("utf-8", "surrogateescape"))
            if text is not None:
                replace_file(file, text.encode("utf-8", "surrogateescape"), file.stat().st_mode & 0o777)
        except OSError as error:
            raise FileNotCreated(str(file), (error.strerror or type(error).__name__).lower()) from error
        return text is not None

    def remove(self, root: str, path: str) -> None:
        (Path(root) / path).unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> bool:
    """Give the finished *draft* its name; return False if the name is taken."""
    try:
        os.link(draft, path)  # unlike a renaming, never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            return False
        draft.replace(path)
    return True
