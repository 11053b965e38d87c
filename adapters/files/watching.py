"""Watcher of folders, each registered separately, so that excluded folders are not watched by the operating system."""

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from watchfiles import Change, watch

from clawmem.adapters.files.disk import folder_identity
from clawmem.ports.files import PathChange, StopSignal

GATHER_MS = 200  # changes within this time are reported together
STEP_MS = 50
TURN_MS = 100  # after which a stop is noticed
POLL_MS = 2_000
UNNAMED = "Unable to decode path"  # error that ends watchfiles, of a file whose name is not UTF-8
ATTEMPTS = 5  # folders may be deleted between listing and registration

Changes = set[tuple[Change, str]]


class WatchedFolders:
    """``FolderWatcher`` over the notifications of the operating system (such as inotify), through watchfiles."""

    def __init__(self) -> None:
        self.polling = False
        self._enter: Callable[[str], bool] = lambda path: True
        self._roots: dict[str, str] = {}  # resolved path by configured path
        self._identities: dict[str, tuple[int, int] | None] = {}
        self._watched: frozenset[str] = frozenset()
        self._turns: Generator[Changes, None, None] | None = None
        self._pending: Changes = set()

    def arm(self, roots: Sequence[str], enter: Callable[[str], bool]) -> int:
        self._enter = enter
        self._roots = {root: os.path.realpath(root) for root in roots}
        self._start()
        return len(self._watched)

    def wait(self, seconds: float, stop: StopSignal) -> Sequence[PathChange]:
        end = time.monotonic() + seconds
        events, self._pending = self._pending, set()
        replaced = False
        while not (events or replaced or stop.is_set()) and (left := end - time.monotonic()) > 0:
            if self._turns is None:
                stop.wait(left)
                continue
            try:
                events = next(self._turns)
            except RuntimeError as error:
                if UNNAMED not in str(error):
                    raise
                replaced = True
        changes = set()
        for path in {path for _, path in events}:
            is_folder = path in self._watched or _is_folder(path)
            for root, real in self._roots.items():
                if (below := _below(path, real)) is not None:
                    changes.add(PathChange(str(Path(root, below)), is_folder))
        replaced |= any(folder_identity(root) != self._identities[root] for root in self._roots)
        if replaced or any(self._moves_folders(kind, path) for kind, path in events):
            self._start()
            changes |= {PathChange(root, folder=True) for root in self._roots}  # changes since then
        return sorted(changes)

    def close(self) -> None:
        if self._turns:
            self._turns.close()
        self._turns, self._watched, self._pending = None, frozenset(), set()

    def _moves_folders(self, kind: Change, path: str) -> bool:
        if kind is Change.modified:  # of a folder: its permissions or times
            return False
        below_roots = (_below(path, real) for real in self._roots.values() if _is_folder(path))
        return path in self._watched or any(below and self._enter(below) for below in below_roots)

    def _start(self) -> None:
        self.close()
        self._identities = {root: folder_identity(root) for root in self._roots}
        for _ in range(ATTEMPTS):
            self._watched = frozenset(path for real in self._roots.values() for path in self._folders(real))
            if not self._watched:
                return
            turns = watch(
                *sorted(self._watched),
                watch_filter=None,
                debounce=GATHER_MS,
                step=STEP_MS,
                rust_timeout=TURN_MS,
                yield_on_timeout=True,
                force_polling=self.polling,
                poll_delay_ms=POLL_MS,
                recursive=False,
                # Without polling, the flag would also hide errors about limits.
                ignore_permission_denied=self.polling,
            )
            try:
                self._pending = next(turns)
                self._turns = turns
                return
            except (FileNotFoundError, PermissionError):
                continue
            except (OSError, RuntimeError) as error:
                if UNNAMED in str(error):
                    continue
                if self.polling:
                    raise
                self.polling = True  # more than the operating system allows a user to watch

    def _folders(self, real: str) -> Iterator[str]:
        """Iterate over *real* and the folders below it with names in UTF-8 that may be entered; links are not followed."""
        for folder, names, _ in os.walk(real):
            yield folder
            utf8 = [name for name in names if name.encode("utf-8", "replace").decode() == name]
            paths = {name: _below(str(Path(folder, name)), real) for name in utf8}
            names[:] = [name for name, path in paths.items() if self._enter(path or "")]


def _below(path: str, root: str) -> str | None:
    """Return *path* relative to *root* with slashes; empty for *root* itself, ``None`` if it is outside of *root*."""
    if path == root:
        return ""
    start = root if root.endswith(os.sep) else root + os.sep
    return path.removeprefix(start).replace(os.sep, "/") if path.startswith(start) else None


def _is_folder(path: str) -> bool:
    return Path(path).is_dir() and not Path(path).is_symlink()
