from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from clawmem.ports.errors import FileNotCreated


class NewDiskFiles:
    """``NewFiles`` in folders of this machine."""

    def create(self, root: str, folder: str, names: Iterable[str], text: str) -> str:
        base = Path(root).resolve()
        location = base / folder
        if not base.is_dir():
            raise FileNotCreated(root, "it is no folder, or its disk is not mounted")
        if not location.resolve().is_relative_to(base):
            raise FileNotCreated(str(location), f"it lies outside of {root}")
        draft = location / f".note.{os.getpid()}.{os.urandom(4).hex()}.part"
        try:
            location.mkdir(parents=True, exist_ok=True)
            with draft.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            path = next(path for path in (location / name for name in names) if _publish(draft, path))
            flush_folder(location)
        except OSError as error:
            raise FileNotCreated(str(location), (error.strerror or type(error).__name__).lower()) from error
        finally:
            with suppress(OSError):
                draft.unlink()
        return path.relative_to(base).as_posix()

    def remove(self, root: str, path: str) -> None:
        (Path(root) / path).unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Write the names in *folder* to the disk, where the system can."""
    with suppress(OSError):  # Windows opens no folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _publish(draft: Path, path: Path) -> bool:
    """Give the finished *draft* its name; return False if the name is taken."""
    try:
        os.link(draft, path)  # unlike a renaming, never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            return False
        draft.replace(path)
    return True
