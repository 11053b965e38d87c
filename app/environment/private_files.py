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

MOST_BYTES = 64_000  # of the error log; beyond that its older half is deleted
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
OTHERS = 0o077  # the permissions of all users but the owner; as a umask it removes them from new files
_BESIDE = ("-wal", "-shm", "-journal")
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_DRAFT = ".draft-"
_TEMPORARY = "clawmem-"
_COLON = "+"  # in names of files, which Windows allows no colon
_ABANDONED_S = 86_400.0  # age of a draft whose process is unknown, for example one of another machine


def state_folder(vault: Path) -> Path:
    """Return the folder of hook files of *vault*, which may not exist."""
    return vault.with_name(f"{vault.name}.hooks")


def append_to_error_log(vault: Path, entry: str) -> None:
    """
    Append *entry* to the error log, which is bounded in size.

    Write nothing without a vault, so that the folder of a deleted vault is not created again.

    Raises:
        OSError: the log cannot be written.
    """
    if vault.exists():
        _append(error_log(vault), entry)


def append_daily(vault: Path, moment: str, name: str, message: str) -> bool:
    """
    Append *message* of *name* to the error log of *vault*, which may not exist, unless it has it for the day of *moment*.

    Args:
        moment: UTC in ISO format.

    Raises:
        OSError: the log cannot be written.
    """
    log = error_log(vault)
    lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else ()
    if any(line.startswith(moment[:10]) and line.endswith(f": {message}") for line in lines):
        return False
    _append(log, f"{moment} {name}: {message}\n")
    return True


def error_log(vault: Path) -> Path:
    """Return the path of the error log of hooks of *vault*."""
    return state_folder(vault) / "errors.log"


def _append(diary: Path, entry: str) -> None:
    make_folder(diary.parent)
    if diary.exists() and diary.stat().st_size > MOST_BYTES:
        _forget_half(diary)
    with open(os.open(diary, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE), "wb") as file:  # noqa: PTH123
        file.write(entry.encode("utf-8", "backslashreplace")[-MOST_BYTES // 4 :])


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


def write_whole(file: Path, content: bytes) -> None:
    """
    Write *content* to *file* atomically, readable by the owner only.

    Raises:
        OSError: the file cannot be written; no draft is left.
    """
    with draft_of(file) as draft, open(os.open(draft, _CREATE, PRIVATE), "wb") as out:  # noqa: PTH123
        out.write(content)


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
        flush_folder(file.parent)
    except BaseException:
        for ending in ("", *_BESIDE):
            draft.with_name(draft.name + ending).unlink(missing_ok=True)
        raise


def draft_path(place: Path) -> Path:
    """Return the path of a new draft of the file or folder *place*, which names this process, for `sweep_drafts`."""
    return place.with_name(f".{place.name}{_DRAFT}{_writer()}")


def _writer() -> str:
    return holder_id().replace(":", _COLON)


def sweep_drafts(place: Path) -> list[Path]:
    """Delete the drafts of the file or folder *place* whose writers were killed, and return them."""
    return _sweep_abandoned(place.parent, f".{place.name}{_DRAFT}")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder, which is deleted after the block; delete those that killed processes left."""
    sweep_temporary_folders()
    with TemporaryDirectory(prefix=f"{_TEMPORARY}{_writer()}{_COLON}") as folder:
        yield Path(folder)


def sweep_temporary_folders() -> list[Path]:
    """Delete the temporary folders whose processes were killed, and return them."""
    return _sweep_abandoned(Path(gettempdir()), _TEMPORARY, only_gone=True)


def _sweep_abandoned(folder: Path, prefix: str, *, only_gone: bool = False) -> list[Path]:
    swept = []
    with suppress(OSError):
        for place in [one for one in folder.iterdir() if one.name.startswith(prefix)]:
            with suppress(OSError):
                writer = ":".join(place.name.removeprefix(prefix).split(_COLON)[:3])
                is_old = not only_gone and time() - place.lstat().st_mtime > _ABANDONED_S
                if is_old or is_gone(writer):
                    rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
                    swept.append(place)
    return swept


def flush_folder(folder: Path) -> None:
    """Write the names in *folder* to the disk, where the system can."""
    with suppress(OSError):  # Windows opens no folders
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def sweep(folder: Path, older_than_s: float) -> None:
    """Delete drafts in *folder* that are older than *older_than_s* seconds, whose writers were killed."""
    for draft in folder.glob(".*"):
        with suppress(OSError):
            if time() - draft.stat().st_mtime > older_than_s:
                draft.unlink()


def _forget_half(diary: Path) -> None:
    recent = diary.read_bytes()[-MOST_BYTES // 2 :]
    write_whole(diary, recent[recent.find(b"\n") + 1 :])


@contextmanager
def private_umask() -> Iterator[None]:
    """Remove the permissions of other users from every file that this process creates inside the block."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def files_of_vault(vault: Path) -> Iterator[Path]:
    """Yield *vault*, its SQLite side files, and the files and folders named like the vault plus a dot and a suffix."""
    yield from (vault, *(vault.with_name(vault.name + ending) for ending in _BESIDE))
    with suppress(OSError):
        yield from (path for path in vault.parent.iterdir() if path.name.startswith(f"{vault.name}."))


def open_to_others(place: Path) -> Iterator[Path]:
    """Yield *place* and its content as far as other users have permissions on them; symbolic links are not followed."""
    if os.name == "nt":  # pragma: no cover  permissions are inherited from the user's folder
        return
    waiting = [place]
    while waiting:
        path = waiting.pop()
        with suppress(OSError):  # already deleted
            mode = path.lstat().st_mode
            if S_ISLNK(mode):
                continue
            if mode & OTHERS and (S_ISDIR(mode) or S_ISREG(mode)):
                yield path
            if S_ISDIR(mode):
                waiting.extend(path.iterdir())


def make_private(place: Path) -> tuple[list[Path], list[Path]]:
    """Remove the permissions of others from *place* and its content; return the changed and the failed paths."""
    changed: list[Path] = []
    failed: list[Path] = []
    for path in open_to_others(place):
        try:
            path.chmod(path.lstat().st_mode & 0o7700)
        except OSError:
            if path.exists():
                failed.append(path)
        else:
            changed.append(path)
    return changed, failed
