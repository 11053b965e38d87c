"""What hooks keep beside the vault: a diary of what went wrong, and work that waits."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import time

MOST_BYTES = 64_000  # of the diary; beyond that its older half goes
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
OTHERS = 0o077  # the rights of everybody but the owner
_DRAFT = ".draft-"


def state_folder(vault: Path) -> Path:
    """The folder of the hooks of *vault*; it need not be there."""
    return vault.with_name(f"{vault.name}.hooks")


def write_down(vault: Path, entry: str) -> None:
    """
    Add *entry* to the diary of what went wrong, which stays small.

    Nothing is written where there is no vault: who removed it shall not find its folder made again.

    Raises:
        OSError: it cannot be written.
    """
    if not vault.exists():
        return
    diary = state_folder(vault) / "errors.log"
    make_folder(diary.parent)
    if diary.exists() and diary.stat().st_size > MOST_BYTES:
        _forget_half(diary)
    with open(os.open(diary, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE), "wb") as file:  # noqa: PTH123
        file.write(entry.encode("utf-8", "backslashreplace")[-MOST_BYTES // 4 :])


def make_folder(folder: Path) -> None:
    """
    Make *folder*, and the folders above that are missing, for their owner alone; one that is there becomes private.

    Raises:
        OSError: it cannot be made.
    """
    if folder.is_dir():
        if folder.stat().st_mode & OTHERS:
            with suppress(OSError):  # somebody else's, who may have chosen so
                folder.chmod(PRIVATE_FOLDER)
        return
    if not folder.parent.is_dir():
        make_folder(folder.parent)
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def write_whole(file: Path, content: bytes) -> None:
    """
    Make *file* with *content*, whole or not at all, readable by its owner alone.

    Raises:
        OSError: it cannot be written; nothing of it is left.
    """
    draft = file.with_name(f".{file.name}{_DRAFT}{os.getpid()}.{os.urandom(4).hex()}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as out:  # noqa: PTH123
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def drafts_of(file: Path) -> str:
    """The pattern of the names that `write_whole` gives to drafts of *file*, for `sweep`."""
    return f".{file.name}{_DRAFT}*"


def sweep(folder: Path, older_than_s: float, pattern: str = ".*") -> None:
    """
    Take away the drafts in *folder* whose writers were killed: of so many seconds, none is still being written.

    In a folder that is not ours alone *pattern* says which they are.
    """
    for draft in folder.glob(pattern):
        with suppress(OSError):
            if time() - draft.stat().st_mtime > older_than_s:
                draft.unlink()


def _forget_half(diary: Path) -> None:
    recent = diary.read_bytes()[-MOST_BYTES // 2 :]
    write_whole(diary, recent[recent.find(b"\n") + 1 :])
