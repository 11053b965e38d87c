"""Private files: the vault and the files next to it contain the text of the notes, so only their owner may read them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EEXIST
from filecmp import cmp
from pathlib import Path
from shutil import rmtree
from stat import S_ISDIR, S_ISREG
from tempfile import TemporaryDirectory
from time import gmtime, strftime, time
from traceback import format_exception
from typing import BinaryIO

from clawmem.app.environment.places import holder_id, is_gone
from clawmem.ports.errors import ClawmemError, InvalidInput, VaultFull

MOST_CHARS = 64_000  # of the error log; beyond that its older half is deleted
PRIVATE = 0o600
# The endings of the files next to a vault. Copies of the vault have others.
VAULT_ENDINGS = (
    *("-wal", "-shm", "-journal", ".hooks", ".indexes", ".forgotten", ".yaml", ".yaml.lock", ".backup"),
    *(".server", ".server-lock", ".server-log", ".server-start", ".token"),
)
OTHERS = 0o077  # the permissions of all users but the owner; as a umask it removes them from new files


def state_folder(vault: Path) -> Path:
    """Return the folder of hook files of *vault*, which may not exist."""
    return Path(f"{vault}.hooks")


def transcript_folder(vault: Path) -> Path:
    """Return the folder of archived transcripts of *vault*, which may not exist."""
    return state_folder(vault) / "transcripts"


def remember_lock(vault: Path) -> Path:
    """Return the file that one writer of new notes locks at a time, in a folder that may not exist."""
    return state_folder(vault) / "remember.lock"


def log_error(vault: Path, name: str, error: BaseException | str) -> bool:
    """
    Append an error of *name* to the error log of *vault*, which is bounded in size; return whether it is new.

    An expected error is one line, once a day; another one is a traceback. The folder of a deleted vault is not created
    again for it, and a log that cannot be written is left alone.
    """
    log, message = state_folder(vault) / "errors.log", f"{name}: {' '.join(str(error).split())}"
    if isinstance(error, BaseException) and not isinstance(error, ClawmemError):
        message = f"{name}: {''.join(format_exception(error)).rstrip()}"
    if isinstance(error, BaseException) and not vault.exists():
        return False
    with suppress(OSError):
        make_folder(log.parent)
        content = log.read_text("utf-8", "replace") if log.exists() else ""
        entry = f"{strftime('%Y-%m-%dT%H:%M:%SZ', gmtime())} {message}"[-MOST_CHARS // 4 :]
        if any(line[:10] == entry[:10] and line.endswith(message) for line in content.splitlines()):
            return False
        if len(content) > MOST_CHARS:
            half = content[-MOST_CHARS // 2 :].partition("\n")[2]
            write_whole(log, half.encode("utf-8", "backslashreplace"))
        with appended(log) as file:
            file.write(f"{entry}\n".encode("utf-8", "backslashreplace"))
    return True


def appended(file: Path) -> BinaryIO:
    """Open *file* for appending; a new file is private to its owner."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE), "ab")


@contextmanager
def private_umask() -> Iterator[None]:
    """Remove the permissions of other users from every file that this process creates inside the block."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def make_folder(folder: Path) -> None:
    """Create *folder* and its missing parents, private to the owner. Raises `OSError` if that fails."""
    with private_umask():
        folder.mkdir(parents=True, exist_ok=True)


def write_whole(file: Path, content: bytes) -> None:
    """Write *content* to *file*, see `draft_of`."""
    with draft_of(file) as draft:
        draft.write_bytes(content)


@contextmanager
def draft_of(file: Path) -> Iterator[Path]:
    """
    Yield the path of a draft; after the block it is flushed to the disk, and replaces *file* in one step.

    The draft is readable by the owner only, in a folder that is deleted with all that is left in it. Raises `OSError`,
    also for a device or a pipe, which a draft would replace.
    """
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise FileExistsError(EEXIST, "It is a device or a pipe, not a file", str(file))
    with draft_folder(file) as folder, private_umask():
        draft = folder / file.name
        try:
            yield draft
            log = Path(f"{draft}-wal")  # what SQLite could not move into the file when it closed it
            if log.exists() and log.stat().st_size:
                raise VaultFull(str(log))
        except VaultFull as error:
            raise VaultFull(str(file)) from error
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        draft.replace(file)


@contextmanager
def draft_folder(place: Path) -> Iterator[Path]:
    """Yield a new private folder next to *place*, which is deleted after the block; see `sweep_drafts`."""
    sweep_drafts(place)
    holder = holder_id().replace(":", "+")  # Windows allows no colons in names
    with TemporaryDirectory(prefix=f".{place.name}.draft-{holder}-", dir=place.parent) as folder:
        yield Path(folder)


@contextmanager
def draft_of_folder(target: Path, *, replaces: bool = False) -> Iterator[Path]:
    """
    Yield an empty folder, whose files get their names in *target* after the block.

    With *replaces* they replace other files; folders never. Raises `InvalidInput` before anything is changed.
    """
    with draft_folder(target / "export" if target.is_dir() else target) as draft:
        yield draft
        names = [file.relative_to(draft) for file in sorted(draft.rglob("*")) if file.is_file()]
        for name in names:
            place = target / name
            is_same = place.is_file() and (replaces or cmp(place, draft / name, shallow=False))
            if place.exists() and not is_same:
                remedy = "Choose another folder" + ("." if replaces else ", or add --force.")
                raise InvalidInput("FILE_EXISTS", f"{place} exists already. Nothing was changed. {remedy}")
        for name in names:
            make_folder((target / name).parent)
            (draft / name).replace(target / name)


def sweep_drafts(place: Path) -> None:
    """Delete the drafts of *place* whose process is gone, or that are a day old."""
    prefix = f".{place.name}.draft-"
    for path in [*place.parent.iterdir()] if place.parent.is_dir() else ():
        if path.name.startswith(prefix):
            with suppress(OSError):  # its writer has just finished
                holder = path.name.removeprefix(prefix).rpartition("-")[0].replace("+", ":")
                if time() - path.lstat().st_mtime > 86_400.0 or is_gone(holder):
                    rmtree(path, ignore_errors=True)


def files_of_vault(vault: Path) -> Iterator[Path]:
    """Yield *vault*, its SQLite side files, and the files and folders named like the vault plus a dot and a suffix."""
    yield from (Path(f"{vault}{ending}") for ending in ("", "-wal", "-shm", "-journal"))
    with suppress(OSError):
        yield from (path for path in vault.parent.iterdir() if path.name.startswith(f"{vault.name}."))


def all_below(place: Path) -> Iterator[Path]:
    """Yield *place* and what is below it; folders that another process has just deleted are left out, unlike by rglob."""
    yield place
    for folder, folders, names in os.walk(place):
        yield from (Path(folder, name) for name in (*folders, *names))


def make_private(place: Path) -> tuple[list[Path], list[Path]]:
    """Remove permissions of others from *place* and its content, links aside; return changed and failed paths."""
    changed: list[Path] = []
    failed: list[Path] = []
    for path in () if os.name == "nt" or place.is_symlink() else all_below(place):
        try:
            mode = path.lstat().st_mode
            if mode & OTHERS and (S_ISDIR(mode) or S_ISREG(mode)):
                path.chmod(mode & 0o7700)
                changed.append(path)
        except FileNotFoundError:
            continue
        except OSError:
            failed.append(path)
    return changed, failed
