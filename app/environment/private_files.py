"""Private files: the vault and the files next to it contain the text of the notes, so only their owner may read them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from stat import S_ISDIR, S_ISLNK, S_ISREG
from tempfile import TemporaryDirectory, gettempdir
from time import time

from clawmem.app.environment.process_identity import holder_id, is_gone
from clawmem.ports.errors import InvalidInput

MOST_BYTES = 64_000  # of the error log; beyond that its older half is deleted
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
OTHERS = 0o077  # the permissions of all users but the owner; as a umask it removes them from new files
_SIDE_FILES = ("-wal", "-shm", "-journal")
_DRAFT, _TEMPORARY = ".draft-", "clawmem-"
_COLON = "+"  # in names of files, which Windows allows no colon
_ABANDONED_S = 86_400.0  # age of a draft whose process is unknown, for example one of another machine
_NAMED = 3  # files that a refusal names


def state_folder(vault: Path) -> Path:
    """Return the folder of hook files of *vault*, which may not exist."""
    return vault.with_name(f"{vault.name}.hooks")


def error_log(vault: Path) -> Path:
    """Return the path of the error log of hooks of *vault*."""
    return state_folder(vault) / "errors.log"


def append_to_error_log(vault: Path, entry: str, *, once_a_day: bool = False) -> bool:
    """
    Append *entry*, a line ``MOMENT NAME: MESSAGE``, to the error log, which is bounded in size.

    Args:
        once_a_day: Whether a message that the log already has for the day of the moment is left out.

    Returns:
        Whether the entry was appended.

    Raises:
        OSError: the log cannot be written.
    """
    log = error_log(vault)
    make_folder(log.parent)
    content = log.read_bytes() if log.exists() else b""
    line = entry.encode("utf-8", "backslashreplace")[-MOST_BYTES // 4 :]
    message = line.rstrip().partition(b": ")[2]
    if once_a_day and any(
        earlier.startswith(line[:10]) and earlier.endswith(b": " + message)
        for earlier in content.splitlines()
    ):
        return False
    if len(content) > MOST_BYTES:
        write_whole(log, content[-MOST_BYTES // 2 :].partition(b"\n")[2])
    with open(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE), "wb") as file:  # noqa: PTH123
        file.write(line)
    return True


def make_folder(folder: Path) -> None:
    """
    Create *folder* and its missing parents, readable by the owner only; make an existing folder private.

    Raises:
        OSError: the folder cannot be created.
    """
    if folder.is_dir():
        if folder.stat().st_mode & OTHERS:
            with suppress(OSError):  # owned by another user, who may intend the permissions
                folder.chmod(PRIVATE_FOLDER)
        return
    if not folder.parent.is_dir():
        make_folder(folder.parent)
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


@contextmanager
def private_umask() -> Iterator[None]:
    """Remove the permissions of other users from every file that this process creates inside the block."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def write_whole(file: Path, content: bytes) -> None:
    """
    Write *content* to *file* atomically, readable by the owner only.

    Raises:
        OSError: the file cannot be written; no draft is left.
    """
    with draft_of(file) as draft:
        draft.write_bytes(content)


@contextmanager
def draft_of(file: Path) -> Iterator[Path]:
    """
    Yield the path of a draft; after the block it is flushed to the disk, and replaces *file* in one step.

    The draft is readable by the owner only.

    Raises:
        OSError: the file cannot be written; no draft is left.
    """
    draft = draft_path(file)
    try:
        with private_umask():
            yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        draft.replace(file)
        with suppress(OSError):  # Windows opens no folders
            folder = os.open(file.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except BaseException:
        for ending in ("", *_SIDE_FILES):
            draft.with_name(draft.name + ending).unlink(missing_ok=True)
        raise


@contextmanager
def draft_of_folder(target: Path, *, replaces: bool = False) -> Iterator[Path]:
    """
    Yield an empty folder, whose files get their names in *target* after the block.

    Args:
        replaces: Whether other files of these names are replaced; folders and links never are.

    Raises:
        InvalidInput: Something else has one of these names; nothing was changed.
        OSError: A file cannot be written.
    """
    place = target / "export" if target.is_dir() else target
    sweep_drafts(place)
    draft = draft_path(place)
    try:
        with private_umask():
            draft.mkdir()
            yield draft
            new = {file.relative_to(draft): file for file in sorted(draft.rglob("*")) if not file.is_dir()}
            taken = [
                name for name, file in new.items() if not _is_free(target, name, None if replaces else file)
            ]
            if taken:
                more = f" and {len(taken) - _NAMED} more" if len(taken) > _NAMED else ""
                raise InvalidInput(
                    "FILE_EXISTS",
                    f"{target} has other files of these names: {', '.join(map(str, taken[:_NAMED]))}{more}. Nothing was "
                    f"changed. Choose another folder{'' if replaces else ', or add --force'}.",
                )
            for name, file in new.items():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                file.replace(target / name)
    finally:
        rmtree(draft, ignore_errors=True)


def _is_free(target: Path, name: Path, same: Path | None) -> bool:
    """Whether *target* has nothing called *name*, or a file with the bytes of *same*, or any file without *same*."""
    place = target / name
    folders = [target / folder for folder in name.parents if folder.name]
    if any(folder.is_symlink() or (folder.exists() and not folder.is_dir()) for folder in folders):
        return False
    if place.is_symlink() or not place.is_file():
        return not place.exists() and not place.is_symlink()
    return same is None or place.read_bytes() == same.read_bytes()


def draft_path(place: Path) -> Path:
    """Return the path of a new draft of the file or folder *place*, which names this process, for `sweep_drafts`."""
    return place.with_name(f".{place.name}{_DRAFT}{_writer()}")


def _writer() -> str:
    return holder_id().replace(":", _COLON)


def sweep_drafts(place: Path) -> list[Path]:
    """Delete the drafts of the file or folder *place* whose writers were killed, and return them."""
    return sweep_abandoned(place.parent, f".{place.name}{_DRAFT}")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder, which is deleted after the block; delete those that killed processes left."""
    sweep_temporary_folders()
    with TemporaryDirectory(prefix=f"{_TEMPORARY}{_writer()}{_COLON}") as folder:
        yield Path(folder)


def sweep_temporary_folders() -> list[Path]:
    """Delete the temporary folders whose processes were killed, and return them."""
    return sweep_abandoned(Path(gettempdir()), _TEMPORARY, only_gone=True)


def sweep_abandoned(folder: Path, prefix: str = ".", *, only_gone: bool = False) -> list[Path]:
    """
    Delete the drafts in *folder* that begin with *prefix* and whose writers were killed, and return them.

    Args:
        only_gone: Whether old drafts of unknown writers, for example of another machine, stay.
    """
    swept = []
    with suppress(OSError):
        for place in [entry for entry in folder.iterdir() if entry.name.startswith(prefix)]:
            with suppress(OSError):
                writer = place.name.partition(_DRAFT)[2] or place.name.removeprefix(prefix)
                has_ended = is_gone(":".join(writer.split(_COLON)[:3]))
                is_old = not only_gone and time() - place.lstat().st_mtime > _ABANDONED_S
                if has_ended or is_old:
                    rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
                    swept.append(place)
    return swept


def files_of_vault(vault: Path) -> Iterator[Path]:
    """Yield *vault*, its SQLite side files, and the files and folders named like the vault plus a dot and a suffix."""
    yield from (vault, *(vault.with_name(vault.name + ending) for ending in _SIDE_FILES))
    with suppress(OSError):
        yield from (path for path in vault.parent.iterdir() if path.name.startswith(f"{vault.name}."))


def make_private(place: Path) -> tuple[list[Path], list[Path]]:
    """
    Remove the permissions of others from *place* and its content; return the changed and the failed paths.

    Symbolic links are not followed.
    """
    changed: list[Path] = []
    failed: list[Path] = []
    waiting = (
        [place] if os.name != "nt" else []
    )  # on Windows permissions are inherited from the user's folder
    while waiting:
        path = waiting.pop()
        try:
            mode = path.lstat().st_mode
            if not S_ISLNK(mode) and mode & OTHERS and (S_ISDIR(mode) or S_ISREG(mode)):
                path.chmod(mode & 0o7700)
                changed.append(path)
        except OSError:
            if path.exists():
                failed.append(path)
            continue
        if S_ISDIR(mode):
            with suppress(OSError):
                waiting.extend(path.iterdir())
    return changed, failed
