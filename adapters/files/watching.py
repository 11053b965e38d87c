"""Watcher of folders, each registered separately, so that excluded folders are not watched by the operating system."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.adapters.files.live import identity
from clawmem.ports.watcher import PathChange, StopSignal

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

GATHER_MS = 200  # changes within this time are reported together
STEP_MS = 50
POLL_MS = 2_000
ATTEMPTS = 5  # folders may be deleted between listing and registration

MODIFIED = 2  # the kind "modified" of watchfiles; for a folder it means changed permissions or times


class WatchedFolders:
    """``FolderWatcher`` over the notifications of the operating system (such as inotify), through watchfiles."""

    def __init__(self) -> None:
        self.polling = False
        self._enter: Callable[[str], bool] = lambda path: True
        self._roots: dict[str, str] = {}  # resolved path by configured path
        self._identities: dict[str, tuple[int, int] | None] = {}
        self._armed: frozenset[str] = frozenset()
        self._notify: RustNotify | None = None

    def arm(self, roots: Sequence[str], enter: Callable[[str], bool]) -> int:
        self._enter = enter
        self._roots = {root: os.path.realpath(root) for root in roots}
        self._rearm()
        return len(self._armed)

    def wait(self, seconds: float, stop: StopSignal) -> Sequence[PathChange]:
        seen = self._wait_for_events(seconds, stop)
        changes = {change for kind, path in seen for change in self._path_changes(path)}
        came_or_went = [root for root in self._roots if identity(root) != self._identities[root]]
        if came_or_went or any(self._moves_folders(kind, path) for kind, path in seen):
            changes |= {change for _, path in self._rearm() for change in self._path_changes(path)}
        return sorted(changes | {PathChange(root, folder=True) for root in came_or_went})

    def close(self) -> None:
        if self._notify:
            self._notify.close()
        self._notify, self._armed = None, frozenset()

    def _wait_for_events(self, seconds: float, stop: StopSignal) -> set[tuple[int, str]]:
        if self._notify is None:
            stop.wait(seconds)
            return set()
        return _changes(self._notify.watch(GATHER_MS, STEP_MS, max(1, int(seconds * 1000)), stop))

    def _path_changes(self, path: str) -> Iterator[PathChange]:
        """Iterate over *path* relative to each root that contains it."""
        folder = path in self._armed or _is_folder(path)
        for root, real in self._roots.items():
            below = _below(path, real)
            if below is not None:
                yield PathChange(str(Path(root, below)), folder)

    def _moves_folders(self, kind: int, path: str) -> bool:
        if kind == MODIFIED:
            return False
        return path in self._armed or (_is_folder(path) and self._enters(path))

    def _enters(self, path: str) -> bool:
        ways = (_below(path, real) for real in self._roots.values())
        return any(way and self._enter(way) for way in ways)

    def _rearm(self) -> set[tuple[int, str]]:
        """Watch the folders that exist now; return the changes reported until then."""
        self._identities = {root: identity(root) for root in self._roots}
        old, self._notify = self._notify, self._start_watcher()
        if old is None:
            return set()
        last = _changes(old.watch(STEP_MS, STEP_MS // 5, STEP_MS, None))
        old.close()
        return last

    def _start_watcher(self) -> RustNotify | None:
        for _ in range(ATTEMPTS):
            self._armed = frozenset(path for real in self._roots.values() for path in self._folders(real))
            with suppress(FileNotFoundError, PermissionError):
                return self._opened(sorted(self._armed)) if self._armed else None
        return None  # the next check of the roots or the next full pass tries again

    def _opened(self, folders: list[str]) -> RustNotify:
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        if not self.polling:
            try:
                # The flag for ignoring permission errors would also hide errors about limits, so it is not
                # set.
                return RustNotify(folders, False, False, POLL_MS, False, False)
            except (FileNotFoundError, PermissionError):
                raise
            # more than the operating system allows a user to watch
            except (OSError, WatchfilesRustInternalError):
                self.polling = True
        return RustNotify(folders, False, True, POLL_MS, False, True)

    def _folders(self, real: str) -> Iterator[str]:
        """Iterate over *real* and the folders below it that may be entered; links are not followed."""
        waiting = [(real, "")]
        while waiting:
            folder, inside = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            except OSError:
                continue  # deleted since, or not permitted
            yield folder
            below = ((str(Path(folder, name)), f"{inside}{name}") for name in names)
            waiting += [(path, f"{way}/") for path, way in below if self._enter(way)]


def _changes(heard: object) -> set[tuple[int, str]]:
    return heard if isinstance(heard, set) else set()


def _below(path: str, root: str) -> str | None:
    """
    Return *path* relative to *root* with slashes; empty for *root* itself, ``None`` if it is outside of
    *root*.
    """
    if path == root:
        return ""
    start = root if root.endswith(os.sep) else root + os.sep
    return path.removeprefix(start).replace(os.sep, "/") if path.startswith(start) else None


def _is_folder(path: str) -> bool:
    return Path(path).is_dir() and not Path(path).is_symlink()
